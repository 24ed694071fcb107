//! Secrets of a command line reach the server, and no output.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Output;
use std::sync::mpsc::{Receiver, channel};

use crate::bench::{run, stderr, stdout, truebench};
use crate::responder::free_port;

/// Texts that no output may contain; the last is `ann:S3CRETpw` in base64.
const SECRETS: &[&str] = &["S3CRET", "YW5uOlMzQ1JFVHB3"];

/// A server that answers any request with this status, and sends the lines of each.
fn server(status: &'static str) -> (SocketAddr, Receiver<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, heads) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let sender = sender.clone();
            std::thread::spawn(move || {
                let mut writer = stream.try_clone().unwrap();
                let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
                loop {
                    let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
                    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok");
                    if head.is_empty()
                        || sender.send(head).is_err()
                        || writer.write_all(answer.as_bytes()).is_err()
                    {
                        break;
                    }
                }
            });
        }
    });
    (address, heads)
}

/// That nothing of it holds a secret.
fn assert_clean(what: &str, text: &str) {
    for secret in SECRETS {
        let at = text.find(secret).map(|at| text.get(at.saturating_sub(80)..at + secret.len()));
        assert_eq!(at, None, "{what}");
    }
}

fn assert_output_clean(what: &str, output: &Output) {
    assert_clean(what, &stdout(output));
    assert_clean(what, &stderr(output));
}

/// The record in every format.
fn assert_reports_clean(record: &Path) {
    for format in ["text", "json", "csv", "markdown", "html", "junit", "openmetrics", "summary"] {
        let output = run(&["report", record.to_str().unwrap(), "--format", format]);
        assert_eq!(output.status.code(), Some(0), "{format}: {}", stderr(&output));
        assert_output_clean(format, &output);
    }
}

/// Options of a load that takes a moment.
const BRIEF: &[&str] = &["--no-ceiling", "-n", "20", "--rounds", "1", "-c", "1", "-t", "1"];

#[test]
fn credentials_are_sent_and_not_written() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("r.json");
    let (address, heads) = server("200 OK");
    let url = format!("http://ann:S3CRETpw@{address}/p?token=S3CRETquery&page=2");
    let options = ["http", "load", "--url", &url, "-H", "X-Api-Key: S3CRETkey", "-o", file.to_str().unwrap()];
    let output = run(&[&options[..], BRIEF].concat());
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr(&output));
    assert_output_clean("the run", &output);
    assert_reports_clean(&file);
    let head = heads.recv().unwrap();
    assert_eq!(head[0], "GET /p?token=S3CRETquery&page=2 HTTP/1.1");
    for line in ["Authorization: Basic YW5uOlMzQ1JFVHB3", "X-Api-Key: S3CRETkey"] {
        assert!(head.iter().any(|sent| sent == line), "{line}: {head:?}");
    }
    assert!(head.iter().any(|line| *line == format!("Host: {address}")), "{head:?}");
    // A line of the user's goes before what the URL says.
    let (address, heads) = server("200 OK");
    let url = format!("http://ann:S3CRETpw@{address}/");
    let options = ["http", "load", "--url", &url, "-H", "authorization: Bearer S3CRET", "--format", "json"];
    assert_output_clean("a bearer", &run(&[&options[..], BRIEF].concat()));
    let sent: Vec<String> = heads
        .recv()
        .unwrap()
        .into_iter()
        .filter(|line| line.to_lowercase().starts_with("authorization"))
        .collect();
    assert_eq!(sent, ["authorization: Bearer S3CRET"]);
}

#[test]
fn commands_of_servers_and_programs_are_written_without_secrets() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let port = free_port();
    let url = format!("http://127.0.0.1:{port}/");
    let command = format!(
        "API_TOKEN=S3CRET exec {} http null --bind 127.0.0.1:{port} # --password S3CRET http://u:S3CRET@h/",
        env!("CARGO_BIN_EXE_truebench")
    );
    let file = at("server.json");
    let served =
        run(&[&["http", "load", "--url", &url, "--server", &command, "-o", &file][..], BRIEF].concat());
    assert!(matches!(served.status.code(), Some(0 | 3)), "{}", stderr(&served));
    assert_output_clean("--server", &served);
    assert_reports_clean(Path::new(&file));
    let ended =
        run(&[&["http", "load", "--url", &url, "--server", "exit 7 # --token S3CRET"][..], BRIEF].concat());
    assert_output_clean("a server that ends", &ended);
    let program = ["--", "true", "--token", "S3CRET", "--header=Cookie: S3CRET", "http://u:S3CRET@h/"];
    let file = at("faults.json");
    let watched = run(&[&["faults", "--rates", "--no-prices", "-o", &file][..], &program].concat());
    assert!(Path::new(&file).exists(), "{}", stderr(&watched));
    assert_output_clean("faults", &watched);
    assert_reports_clean(Path::new(&file));
    let csv = at("p.csv");
    assert_output_clean("alloc record", &run(&[&["alloc", "record", "-o", &csv][..], &program].concat()));
    assert_clean("the profile", &std::fs::read_to_string(&csv).unwrap_or_default());
    for plan in [&["alloc", "try", "--dry-run"][..], &["faults", "--prove", "--dry-run"]] {
        assert_output_clean("a plan", &run(&[plan, &program].concat()));
    }
}

#[test]
fn plans_and_errors_quote_no_secret() {
    let (address, _) = server("404 Not Found");
    let url = format!("http://ann:S3CRETpw@{address}/?access_token=S3CRET");
    let long = format!("--url={url}");
    for arguments in [
        &["http", "load", "--url", &url, "--dry-run"][..],
        &["http", "load", &long, "-d", "250ms", "--rounds", "1", "-c", "1"],
        &["http", "load", "--url", "http://ann:S3CRET@no-such-host.invalid/", "-n", "1"],
        &["http", "load", "--url", "ftp://ann:S3CRET@h/"],
        &["http", "load", "--url", "http://ann:S3CRET@h:99999/"],
        &["http", "load", "--url=http://ann:S3CRET@h:99999/"],
        &["http", "load", "--url", "http://h/", "-H", "Authorization Bearer S3CRET"],
        &["http", "load", "--url", "http://h/", "--header=Cookie=S3CRET"],
        &["http", "--remote", "127.0.0.1:1", "--token", "S3CRET S3CRET"],
        &["http", "--token", "S3CRET"],
        &["http", "serve", "--bind", "127.0.0.1", "--token", "S3CRET"],
        &["http", "serve", "--bind", "127.0.0.1", "--token=S3CRET x"],
    ] {
        let output = run(arguments);
        assert_output_clean(&format!("{arguments:?}"), &output);
    }
    let output = truebench(&["http", "serve", "--bind", "127.0.0.1"])
        .env("TRUEBENCH_TOKEN", "S3CRET x")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_output_clean("the variable", &output);
}
