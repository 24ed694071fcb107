use std::io::Write;
use std::net::Ipv4Addr;
use std::thread::JoinHandle;

use machine::Tree;
use rustix::pipe::{PipeFlags, pipe_with};

use super::*;
use crate::driver::agent_connections::MAX_UNPROVEN_OF_PEER as MAX_OF_PEER;
use crate::driver::remote::AgentClient;
use crate::driver::wire::Order;

/// Time limit of each wait.
const PATIENCE: Duration = Duration::from_secs(60);

/// 128 bits.
const TOKEN: &str = "00112233445566778899aabbccddeeff";
/// Time limit of an order, from its first byte.
const WHOLE_OF_ORDERS: Duration = Duration::from_secs(20);

/// An agent in a thread, which ends when this is dropped.
struct RunningAgent {
    address: SocketAddr,
    stop: Option<std::os::fd::OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

fn run_agent(token: Option<&str>) -> RunningAgent {
    run_agent_with(token, |_| {})
}

fn run_agent_with(token: Option<&str>, change: impl FnOnce(&mut AgentRules)) -> RunningAgent {
    let machine = machine::describe(&Tree::live(), &machine::Overrides { dimms: None });
    let mut rules = AgentRules::new(&machine, vec!["nethttp".to_owned()], token.map(str::to_owned));
    change(&mut rules);
    let agent = Agent::bind(Ipv4Addr::LOCALHOST.into(), 0, rules).unwrap();
    let address = agent.address().unwrap();
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).unwrap();
    let thread = std::thread::spawn(move || {
        use std::os::fd::AsFd;
        agent.serve(reader.as_fd(), |_| {}).unwrap();
    });
    RunningAgent { address, stop: Some(writer), thread: Some(thread) }
}

impl Drop for RunningAgent {
    fn drop(&mut self) {
        // A pipe without a writer is readable.
        self.stop = None;
        self.thread.take().unwrap().join().unwrap();
    }
}

/// The answer to these bytes. Asserts that the agent then closes the connection.
fn answer(agent: &RunningAgent, bytes: &[u8]) -> Option<Answer> {
    let mut stream = TcpStream::connect(agent.address).unwrap();
    stream.write_all(bytes).unwrap();
    let mut wire = Wire::new(stream).unwrap();
    let answer = wire.receive(PATIENCE, MAX_ORDER).ok();
    assert!(matches!(wire.receive::<Answer>(PATIENCE, MAX_ORDER), Err(WireError::Ended)));
    answer
}

fn refusal(agent: &RunningAgent, bytes: &[u8]) -> String {
    match answer(agent, bytes) {
        Some(Answer::Refused(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_hello_and_a_turn_have_their_time_limits() {
    let rules = AgentRules::new(&machine::synthetic::named("microvm_2cpu"), Vec::new(), None);
    assert_eq!((rules.hello_limit, rules.turn_limit), (Duration::from_secs(5), Duration::from_secs(15)));
}

#[test]
fn strangers_are_refused() {
    let agent = run_agent(Some("secret"));
    let reason = refusal(&agent, format!("{{\"protocol\":{PROTOCOL},\"token\":\"secreT\"}}\n").as_bytes());
    assert!(reason.contains("wants another token") && !reason.contains("secret"), "{reason}");
    let reason = refusal(&agent, format!("{{\"protocol\":{PROTOCOL}}}\n").as_bytes());
    assert!(reason.contains("wants a token"), "{reason}");
    let reason = refusal(&agent, b"{\"protocol\":999,\"token\":\"secret\",\"new\":[1]}\n");
    let both = format!("protocol {PROTOCOL}, and its client protocol 999: run the same truebench");
    assert!(reason.contains(&both), "{reason}");
    let reason = refusal(&agent, b"GET / HTTP/1.1\r\n\r\n");
    assert!(reason.contains("no message of truebench's"), "{reason}");
    let reason = refusal(&agent, &[b'x'; MAX_HELLO + 1]);
    assert!(reason.contains("more than 4096 bytes"), "{reason}");
    // It still serves others.
    assert_eq!(AgentClient::connect(agent.address, "secret").unwrap().host.servers, ["nethttp"]);
}

#[test]
fn a_silent_connection_is_refused_while_others_are_served() {
    let agent = run_agent_with(None, |rules| rules.hello_limit = Duration::from_secs(1));
    let silent = TcpStream::connect(agent.address).unwrap();
    // The silent connection blocks only its own thread.
    assert!(!AgentClient::connect(agent.address, "").unwrap().is_other_machine());
    let mut wire = Wire::new(silent).unwrap();
    match wire.receive(PATIENCE, MAX_ORDER) {
        Ok(Answer::Refused(reason)) => assert!(reason.contains("nothing came within 1 s"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn clients_take_turns_and_failed_orders_give_reasons() {
    let agent = run_agent(None);
    let mut first = Wire::new(TcpStream::connect(agent.address).unwrap()).unwrap();
    first.send(&Hello { protocol: PROTOCOL, token: String::new() }).unwrap();
    assert!(matches!(first.receive(PATIENCE, MAX_ORDER), Ok(Answer::Welcome(_))));
    // The second client waits for the end of the first, which comes after its last order.
    let address = agent.address;
    let second =
        std::thread::spawn(move || AgentClient::connect(address, "").map(|client| client.host.servers));
    let start_window = |length| Order::StartWindow { server: 3, length, profile: None };
    for (order, expected) in [
        (Order::Prepare(3), "no server 3 was started"),
        (start_window(Duration::ZERO), "windows of 1 ms to 24 h"),
        (start_window(Duration::from_secs(1)), "no server 3 was started"),
        (Order::FinishWindow(3), "no server 3 was started"),
    ] {
        first.send(&order).unwrap();
        match first.receive(PATIENCE, MAX_ORDER) {
            Ok(Answer::Failed(failure)) => assert!(failure.to_string().contains(expected), "{failure}"),
            other => panic!("{order:?}: {other:?}"),
        }
    }
    assert!(!second.is_finished());
    drop(first);
    assert_eq!(second.join().unwrap().unwrap(), ["nethttp"]);
}

#[test]
fn the_end_of_an_agent_ends_its_client() {
    let agent = run_agent(None);
    let client = AgentClient::connect(agent.address, "").unwrap();
    drop(agent);
    let request = crate::driver::local::StartRequest {
        server: crate::driver::ServerSpec::Null(Vec::new()),
        cpus: None,
        conforms: false,
        other_processes: Vec::new(),
    };
    let reason = client.start(&request).map(|(_, info)| info).unwrap_err();
    assert!(reason.to_string().contains("is lost"), "{reason}");
}

#[test]
fn silent_connections_are_refused_to_make_room_for_a_client() {
    let hello_limit = Duration::from_secs(4);
    let agent = run_agent_with(Some(TOKEN), |rules| rules.hello_limit = hello_limit);
    let idle: Vec<TcpStream> =
        (0..3 * MAX_OF_PEER).map(|_| TcpStream::connect(agent.address).unwrap()).collect();
    let began = Instant::now();
    // No connection had to wait for the time limit of another one's hello.
    assert_eq!(AgentClient::connect(agent.address, TOKEN).unwrap().host.servers, ["nethttp"]);
    assert!(began.elapsed() < hello_limit, "{:?}", began.elapsed());
    let mut refusals = 0;
    for stream in idle {
        match Wire::new(stream).unwrap().receive(PATIENCE, MAX_ORDER) {
            Ok(Answer::Refused(reason)) => refusals += usize::from(reason.starts_with("busy: ")),
            other => panic!("{other:?}"),
        }
    }
    assert!(refusals >= 2 * MAX_OF_PEER, "{refusals}");
}

#[test]
fn too_many_clients_are_refused_as_busy() {
    let agent = run_agent_with(Some(TOKEN), |rules| rules.turn_limit = Duration::from_secs(1));
    let hello = || {
        let mut wire = Wire::new(TcpStream::connect(agent.address).unwrap()).unwrap();
        wire.send(&Hello { protocol: PROTOCOL, token: TOKEN.to_owned() }).unwrap();
        wire
    };
    let mut served = hello();
    assert!(matches!(served.receive(PATIENCE, MAX_ORDER), Ok(Answer::Welcome(_))));
    let mut waiting: Vec<Wire> = (0..MAX_CLIENTS + 2).map(|_| hello()).collect();
    let mut answers = waiting.iter_mut().map(|wire| wire.receive::<Answer>(PATIENCE, MAX_ORDER));
    assert!(
        answers.all(|answer| matches!(answer, Ok(Answer::Refused(reason)) if reason.starts_with("busy: ")))
    );
}

#[test]
fn wrong_tokens_are_delayed_and_block_no_other_client() {
    let agent = run_agent(Some(TOKEN));
    let hello = format!("{{\"protocol\":{PROTOCOL},\"token\":\"{}\"}}\n", "0".repeat(32));
    let began = Instant::now();
    for _ in 0..4 {
        assert!(refusal(&agent, hello.as_bytes()).contains("wants another token"));
    }
    // 100, 200, 400, 800 ms.
    assert!(began.elapsed() >= Duration::from_millis(1500), "{:?}", began.elapsed());
    // The right token is served while others wait for their refusal.
    let mut waiting: Vec<TcpStream> = (0..4).map(|_| TcpStream::connect(agent.address).unwrap()).collect();
    waiting.iter_mut().for_each(|stream| stream.write_all(hello.as_bytes()).unwrap());
    assert_eq!(AgentClient::connect(agent.address, TOKEN).unwrap().host.servers, ["nethttp"]);
}

#[test]
fn a_hello_in_pieces_has_the_same_time_limit() {
    let agent = run_agent_with(None, |rules| rules.hello_limit = Duration::from_secs(1));
    let mut slow = TcpStream::connect(agent.address).unwrap();
    let (began, mut refused) = (Instant::now(), false);
    slow.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    while began.elapsed() < PATIENCE && !refused {
        let _ = slow.write_all(b"{");
        refused = matches!(slow.read(&mut [0; 16]), Ok(count) if count > 0);
    }
    assert!(refused && began.elapsed() < WHOLE_OF_ORDERS, "{:?}", began.elapsed());
}

#[test]
fn a_token_is_long_enough_for_128_bits() {
    assert!(is_long(&random_token().unwrap()) && is_long("abcdefghijklmnopqrstuv") && is_long(TOKEN));
    assert!(!is_long("x") && !is_long(&"0".repeat(31)) && !is_long("abcdefghijklmnopqrstu") && !is_long(""));
}

#[test]
fn tokens_are_random_and_compared_whole() {
    let (token, other) = (random_token().unwrap(), random_token().unwrap());
    assert!(token.len() == 32 && token != other);
    assert!(is_same(&token, &token) && !is_same(&token, &other));
    assert!(!is_same("a", "ab") && !is_same("ab", "a") && !is_same("", "a") && is_same("", ""));
}
