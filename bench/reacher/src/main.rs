//! Asks check-if-email-exists about each address on the standard input, a line each, and prints its answer as one line of
//! JSON. All providers are asked over SMTP, through the SOCKS proxy at 127.0.0.1:SOCKS_PORT.

use check_if_email_exists::smtp::verif_method::{
    HotmailB2CVerifMethod, VerifMethod, VerifMethodSmtpConfig, YahooVerifMethod,
};
use check_if_email_exists::{CheckEmailInputBuilder, CheckEmailInputProxy, check_email};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};

const PROXY: &str = "default";

fn create_method(socks_port: u16) -> VerifMethod {
    let proxy = CheckEmailInputProxy {
        host: "127.0.0.1".into(),
        port: socks_port,
        username: None,
        password: None,
        timeout_ms: None,
    };
    let config = VerifMethodSmtpConfig {
        proxy: Some(PROXY.into()),
        hello_name: "probe.example.org".into(),
        from_email: "probe@probe.example.org".into(),
        smtp_timeout: Some(Duration::from_secs(20)),
        ..Default::default()
    };
    let mut method = VerifMethod::new_with_same_config_for_all(
        Some(proxy),
        config.hello_name.clone(),
        config.from_email.clone(),
        config.smtp_port,
        config.smtp_timeout,
        config.retries,
    );
    method.hotmailb2c = HotmailB2CVerifMethod::Smtp(config.clone());
    method.yahoo = YahooVerifMethod::Smtp(config);
    method
}

#[tokio::main]
async fn main() {
    let socks_port = std::env::var("SOCKS_PORT")
        .ok()
        .and_then(|port| port.parse().ok())
        .expect("SOCKS_PORT");
    let method = create_method(socks_port);
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut tasks = Vec::new();
    while let Ok(Some(email)) = lines.next_line().await {
        let method = method.clone();
        tasks.push(tokio::spawn(async move {
            let input = CheckEmailInputBuilder::default()
                .to_email(email)
                .verif_method(method)
                .build()
                .expect("an input");
            let output = check_email(&input).await;
            println!("{}", serde_json::to_string(&output).expect("JSON"));
        }));
    }
    for task in tasks {
        let _ = task.await;
    }
}
