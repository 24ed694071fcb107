use std::io::Write;
use std::net::Ipv4Addr;

use rustix::pipe::{PipeFlags, pipe_with};

use super::*;
use crate::side::remote::Session;
use crate::side::wire::Order;

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// An agent at work in a thread; it ends with this value.
struct Working {
    address: SocketAddr,
    stop: Option<std::os::fd::OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

fn working(token: Option<&str>) -> Working {
    let machine = machine::describe(&Tree::live(), &machine::Asked { dimms: None });
    let rules = Rules::new(&machine, vec!["nethttp".to_owned()], token.map(str::to_owned));
    let agent = Agent::bind(Ipv4Addr::LOCALHOST.into(), 0, rules).unwrap();
    let address = agent.address().unwrap();
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).unwrap();
    let thread = std::thread::spawn(move || {
        use std::os::fd::AsFd;
        agent.serve(reader.as_fd(), |_| {}).unwrap();
    });
    Working { address, stop: Some(writer), thread: Some(thread) }
}

impl Drop for Working {
    fn drop(&mut self) {
        // A pipe without a writer is readable.
        self.stop = None;
        self.thread.take().unwrap().join().unwrap();
    }
}

/// What an agent answers to these bytes, and that it ends the connection then.
fn answer(agent: &Working, bytes: &[u8]) -> Option<Answer> {
    let mut stream = TcpStream::connect(agent.address).unwrap();
    stream.write_all(bytes).unwrap();
    let mut wire = Wire::new(stream).unwrap();
    let answer = wire.receive(PATIENCE, MOST_OF_ORDER).ok();
    assert!(matches!(wire.receive::<Answer>(PATIENCE, MOST_OF_ORDER), Err(WireError::Ended)));
    answer
}

fn refusal(agent: &Working, bytes: &[u8]) -> String {
    match answer(agent, bytes) {
        Some(Answer::Refused(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn strangers_are_refused() {
    let agent = working(Some("secret"));
    let why = refusal(&agent, b"{\"protocol\":1,\"token\":\"secreT\"}\n");
    assert!(why.contains("wants another token") && !why.contains("secret"), "{why}");
    let why = refusal(&agent, b"{\"protocol\":1}\n");
    assert!(why.contains("wants a token"), "{why}");
    let why = refusal(&agent, b"{\"protocol\":999,\"token\":\"secret\",\"new\":[1]}\n");
    assert!(why.contains("protocol 1, and its client protocol 999: run the same truebench"), "{why}");
    let why = refusal(&agent, b"GET / HTTP/1.1\r\n\r\n");
    assert!(why.contains("no message of truebench's"), "{why}");
    let why = refusal(&agent, &[b'x'; MOST_OF_HELLO + 1]);
    assert!(why.contains("more than 4096 bytes"), "{why}");
    // After all of them it still serves.
    assert_eq!(Session::open(agent.address, "secret").unwrap().host.servers, ["nethttp"]);
}

#[test]
fn whoever_says_nothing_is_sent_away_while_others_are_served() {
    let agent = working(None);
    let silent = TcpStream::connect(agent.address).unwrap();
    // Its thread waits for a hello; this one has its own.
    assert!(!Session::open(agent.address, "").unwrap().is_apart());
    let mut wire = Wire::new(silent).unwrap();
    match wire.receive(PATIENCE, MOST_OF_ORDER) {
        Ok(Answer::Refused(why)) => assert!(why.contains("nothing came within 5 s"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_client_at_a_time_and_orders_that_cannot_be_carried_out_are_told() {
    let agent = working(None);
    let mut first = Wire::new(TcpStream::connect(agent.address).unwrap()).unwrap();
    first.send(&Hello { protocol: PROTOCOL, token: String::new() }).unwrap();
    assert!(matches!(first.receive(PATIENCE, MOST_OF_ORDER), Ok(Answer::Welcome(_))));
    // The second one waits for the end of the first, which comes when that has been told all.
    let address = agent.address;
    let second = std::thread::spawn(move || Session::open(address, "").map(|session| session.host.servers));
    let begin = |length| Order::Begin { server: 3, length, profile: None };
    for (order, told) in [
        (Order::Ready(3), "no server 3 was started"),
        (begin(Duration::ZERO), "windows of 1 ms to 24 h"),
        (begin(Duration::from_secs(1)), "no server 3 was started"),
        (Order::End(3), "no server 3 was started"),
    ] {
        first.send(&order).unwrap();
        match first.receive(PATIENCE, MOST_OF_ORDER) {
            Ok(Answer::Failed(why)) => assert!(why.contains(told), "{why}"),
            other => panic!("{order:?}: {other:?}"),
        }
    }
    assert!(!second.is_finished());
    drop(first);
    assert_eq!(second.join().unwrap().unwrap(), ["nethttp"]);
}

#[test]
fn an_agent_that_ends_ends_its_client() {
    let agent = working(None);
    let session = Session::open(agent.address, "").unwrap();
    drop(agent);
    let wanted = crate::side::local::Wanted {
        subject: crate::side::Subject::Null(Vec::new()),
        cpus: None,
        conforms: false,
        beside: Vec::new(),
    };
    let why = session.start(&wanted).map(|(_, about)| about).unwrap_err();
    assert!(why.contains("is lost"), "{why}");
}

#[test]
fn tokens_are_random_and_compared_whole() {
    let (one, other) = (random_token().unwrap(), random_token().unwrap());
    assert!(one.len() == 32 && one != other);
    assert!(is_same(&one, &one) && !is_same(&one, &other));
    assert!(!is_same("a", "ab") && !is_same("ab", "a") && !is_same("", "a") && is_same("", ""));
}
