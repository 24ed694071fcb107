//! `truebench http null`: a server that a client of any kind can talk to, with faults on demand.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::bench::{run, stderr};
use crate::responder::Responder;

fn connect(responder: &Responder) -> TcpStream {
    let stream = TcpStream::connect(responder.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// What is answered to one request, of so many bytes at least.
fn answer(stream: &mut TcpStream, least: usize) -> String {
    stream.write_all(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    let (mut all, mut piece) = (Vec::new(), [0; 4096]);
    while all.len() < least {
        match stream.read(&mut piece).unwrap() {
            0 => break,
            read => all.extend_from_slice(&piece[..read]),
        }
    }
    String::from_utf8(all).unwrap()
}

#[test]
fn it_answers_until_ctrl_c_and_prints_the_number_of_requests() {
    let responder = Responder::start(&["--body", "ready", "--threads", "2"]);
    let mut stream = connect(&responder);
    for _ in 0..3 {
        let text = answer(&mut stream, 20);
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.ends_with("\r\n\r\nready"), "{text}");
    }
    let (code, errors) = responder.end();
    assert_eq!((code, errors.as_str()), (Some(0), "truebench: 3 requests read\n"));
}

#[test]
fn faults_come_when_they_are_asked_for() {
    let responder = Responder::start(&["--unavailable", "2", "--close-after", "4"]);
    let mut stream = connect(&responder);
    let status = |text: String| text.split(' ').nth(1).map(str::to_owned);
    let statuses: Vec<_> = (0..4).map(|_| status(answer(&mut stream, 20)).unwrap()).collect();
    assert_eq!(statuses, ["200", "503", "200", "503"]);
    assert_eq!(stream.read(&mut [0; 64]).unwrap(), 0, "the fourth answer was the last");
}

#[test]
fn some_answers_wait_and_some_are_others() {
    let options =
        ["--delay", "60ms/2", "--other", "3", "--neglect", "30ms/1", "--drift", "1ms/1h", "--accept", "1ms"];
    let responder = Responder::start(&options);
    let timed = |stream: &mut TcpStream, least| {
        let began = Instant::now();
        (answer(stream, least), began.elapsed())
    };
    let mut served = connect(&responder);
    assert!(answer(&mut served, 20).ends_with("\r\n\r\nHello, Go!"));
    assert!(timed(&mut served, 20).1 >= Duration::from_millis(60), "the second of two");
    assert!(answer(&mut served, 20).ends_with("\r\n\r\nHello, Go!?"), "the third of three");
    let mut neglected = connect(&responder);
    answer(&mut neglected, 20);
    assert!(timed(&mut neglected, 20).1 >= Duration::from_millis(30), "the second connection");
}

#[test]
fn wrong_options_are_reported() {
    for (options, error) in [
        (&["--stall", "1s/100ms"][..], "write the shorter time first"),
        (&["--stall", "1s"], "write 100ms/1s"),
        (&["--unavailable", "0"], "--unavailable"),
        (&["--delay", "40ms"], "write 40ms/10"),
        (&["--delay", "40ms/0"], "'0' is no number from 1 on"),
        (&["--drift", "1ms/0s"], "'0s' is no time above zero"),
        (&["--neglect", "1h/-1"], "'-1' is no number of connections"),
        (&["--split", "1ms", "--trickle", "1ms"], "cannot be used with"),
        (&["--bind", "192.0.2.1:0"], "--bind 192.0.2.1:0: "),
    ] {
        let output = run(&[&["http", "null"], options].concat());
        assert_eq!(output.status.code(), Some(2), "{options:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(error), "{options:?}: {}", stderr(&output));
    }
}
