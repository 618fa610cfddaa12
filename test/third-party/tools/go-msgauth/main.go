// Signs or verifies what each line of the input asks for, as test/third-party/signers.ts has it.
package main

import (
	"bufio"
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"

	"github.com/emersion/go-msgauth/dkim"
)

type task struct {
	Do, Kind, Key, Seed, Domain, Selector, Header, Body string
	Mail                                                []byte
	Names                                               []string
	Keys                                                map[string]string
}

type answer struct {
	Mail    []byte `json:"mail,omitempty"`
	Results []bool `json:"results,omitempty"`
	Error   string `json:"error,omitempty"`
}

func readKey(t task) (crypto.Signer, error) {
	if t.Kind == "ed25519" {
		seed, err := base64.StdEncoding.DecodeString(t.Seed)
		if err != nil {
			return nil, err
		}
		return ed25519.NewKeyFromSeed(seed), nil
	}
	block, _ := pem.Decode([]byte(t.Key))
	if block == nil {
		return nil, errors.New("no key")
	}
	return x509.ParsePKCS1PrivateKey(block.Bytes)
}

func sign(t task) answer {
	key, err := readKey(t)
	if err != nil {
		return answer{Error: err.Error()}
	}
	var out bytes.Buffer
	err = dkim.Sign(&out, bytes.NewReader(t.Mail), &dkim.SignOptions{
		Domain: t.Domain, Selector: t.Selector, Signer: key, HeaderKeys: t.Names,
		HeaderCanonicalization: dkim.Canonicalization(t.Header),
		BodyCanonicalization:   dkim.Canonicalization(t.Body),
	})
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Mail: out.Bytes()}
}

func verify(t task) answer {
	found, err := dkim.VerifyWithOptions(bytes.NewReader(t.Mail), &dkim.VerifyOptions{
		LookupTXT: func(name string) ([]string, error) {
			if text, ok := t.Keys[name]; ok {
				return []string{text}, nil
			}
			return nil, nil
		},
	})
	if err != nil {
		return answer{Error: err.Error()}
	}
	results := make([]bool, len(found))
	for at, one := range found {
		results[at] = one.Err == nil
	}
	return answer{Results: results}
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var t task
		if err := json.Unmarshal(in.Bytes(), &t); err != nil {
			out.Encode(answer{Error: err.Error()})
		} else if t.Do == "sign" {
			out.Encode(sign(t))
		} else {
			out.Encode(verify(t))
		}
	}
}
