use std::io::Write;
use std::net::TcpStream;
use std::sync::LazyLock;

use super::*;

/// The program, built into this crate's OUT_DIR.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let cache = || Ok(PathBuf::from(concat!(env!("OUT_DIR"), "/cache")));
    built::find_or_build(&[], &[], cache, built::go, |_, _| ()).unwrap()
});

fn config(name: &str) -> ServerConfig {
    ServerConfig { name: name.into(), ..ServerConfig::default() }
}

fn get(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(START)).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn every_listed_server_starts_answers_and_stops() {
    let program: &Path = &PROGRAM;
    let entries = list(program).unwrap();
    for name in ["nethttp", "fasthttp", "multiplexed"] {
        assert!(entries.iter().any(|entry| entry.server == name), "{entries:?}");
    }
    for entry in entries {
        let server = Server::start(program, &config(&entry.server)).unwrap();
        assert_eq!(server.report.server, entry.server);
        assert_eq!(server.report.pid, server.child.id());
        assert_eq!(server.report.modules, entry.modules);
        assert_eq!(server.report.origin, "built here");
        let answer = get(server.report.address);
        assert!(
            answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nHello, Go!"),
            "{answer}"
        );
        let address = server.report.address;
        server.stop().unwrap();
        assert!(TcpStream::connect(address).is_err());
    }
}

#[test]
fn flags_environment_and_cpus_reach_the_server() {
    let cpu = lab::affinity::get().unwrap().iter().next().unwrap();
    let before = lab::affinity::get().unwrap();
    let config = ServerConfig {
        flags: ["-pool", "3", "-cost-rounds", "7", "-sleep", "1ms"].map(String::from).to_vec(),
        environment: vec![("GOGC".into(), "off".into())],
        cpus: Some([cpu].into_iter().collect()),
        ..config("multiplexed")
    };
    let server = Server::start(&PROGRAM, &config).unwrap();
    assert_eq!(server.report.options["pool"], "3");
    assert_eq!(server.report.cost, Cost { burn_ns: 0, rounds: 7, sleep_ns: 1_000_000 });
    assert_eq!((server.report.gogc, server.report.gomaxprocs), (u64::MAX, 1));
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.report.pid)).unwrap();
    assert!(status.contains(&format!("Cpus_allowed_list:\t{cpu}\n")), "{status}");
    assert_eq!(lab::affinity::get().unwrap(), before);
    server.stop().unwrap();
}

#[test]
fn a_failed_start_quotes_the_server() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    for (name, flags, words) in [
        ("nethttp", vec!["-addr".into(), address], "address already in use"),
        ("fasthttp", vec!["-nothing".into()], "-nothing"),
        ("unheard-of", vec![], "give a server's name"),
    ] {
        let error = Server::start(&PROGRAM, &ServerConfig { flags, ..config(name) }).unwrap_err();
        assert!(error.to_string().contains(words) && error.to_string().contains(name), "{error}");
    }
}

#[test]
fn a_program_without_servers_is_an_error() {
    let nothing = Path::new("/nowhere/truebench-servers");
    assert!(matches!(Server::start(nothing, &config("nethttp")), Err(ServersError::Run(..))));
    assert!(matches!(list(nothing), Err(ServersError::Run(..))));
    // These run, but are no servers.
    assert!(matches!(list(Path::new("/bin/true")), Err(ServersError::Run(..))));
    assert!(matches!(Server::start(Path::new("/bin/echo"), &config("hello")), Err(ServersError::Start(..))));
}

#[test]
fn a_server_that_dies_is_an_error() {
    let mut server = Server::start(&PROGRAM, &config("nethttp")).unwrap();
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    assert!(server.stop().unwrap_err().to_string().contains("ended by itself"));
}
