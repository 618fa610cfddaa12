# Signs or verifies what each line of the input asks for, as test/third-party/signers.ts has it.
use strict;
use warnings;
use JSON::PP;
use MIME::Base64;
use Mail::DKIM::PrivateKey;
use Mail::DKIM::Signer;
use Mail::DKIM::Verifier;
use Net::DNS::RR;

my %keys;
{
    no warnings 'redefine';
    *Mail::DKIM::DNS::query = sub {
        my ($name) = @_;
        return () unless defined $keys{$name};
        return Net::DNS::RR->new( name => $name, type => 'TXT', txtdata => $keys{$name} );
    };
}

sub sign {
    my ($task) = @_;
    my $mail = decode_base64( $task->{mail} );
    my $key = join '', grep { !/-----/ } split /\n/, $task->{key};
    my $signer = Mail::DKIM::Signer->new(
        Algorithm => 'rsa-sha256',
        Method    => "$task->{header}/$task->{body}",
        Domain    => $task->{domain},
        Selector  => $task->{selector},
        Key       => Mail::DKIM::PrivateKey->load( Data => $key ),
        Headers   => join( ':', @{ $task->{names} } ),
    );
    $signer->PRINT($mail);
    $signer->CLOSE;
    my $field = $signer->signature->as_string;
    $field =~ s/\r?\n/\r\n/g;
    return { mail => encode_base64( "$field\r\n$mail", '' ) };
}

sub verify {
    my ($task) = @_;
    %keys = %{ $task->{keys} };
    my $verifier = Mail::DKIM::Verifier->new;
    $verifier->PRINT( decode_base64( $task->{mail} ) );
    $verifier->CLOSE;
    return { results => [ map { $_->result eq 'pass' ? JSON::PP::true : JSON::PP::false } $verifier->signatures ] };
}

while ( my $line = <STDIN> ) {
    my $task = decode_json($line);
    my $answer = eval { $task->{do} eq 'sign' ? sign($task) : verify($task) };
    print encode_json( $answer // { error => "$@" } ), "\n";
}
