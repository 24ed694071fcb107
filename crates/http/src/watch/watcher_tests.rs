//! The watcher over captured trees, this machine, and sidecars that answer or not.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use figure::Reading;
use machine::Tree;

use super::go;
use super::process_set::ProcessSet;
use super::sample::value;
use super::tests::{tree, write};
use super::watcher::{WatchPlan, Watcher};

const TICK: Duration = Duration::from_millis(20);

fn plan(tree: Tree) -> WatchPlan {
    WatchPlan {
        tree,
        processes: Vec::new(),
        network_of: None,
        listener: None,
        sidecar: None,
        interval: TICK,
        cpus: None,
    }
}

fn switches(count: u64) -> String {
    format!("cpu  1 2 3 4 5 6 7 8\nctxt {count}\n")
}

/// Waits for this number of snapshots.
fn after(snapshots: usize, ends: &Arc<Mutex<Vec<f64>>>) {
    while ends.lock().unwrap().len() < snapshots {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn start(plan: WatchPlan) -> (Watcher, Arc<Mutex<Vec<f64>>>) {
    let ends = Arc::new(Mutex::new(Vec::new()));
    let pushed = Arc::clone(&ends);
    (Watcher::start(plan, move |end, _| pushed.lock().unwrap().push(end)).unwrap(), ends)
}

#[test]
fn growth_is_summed_over_all_snapshots() {
    let (root, tree) = tree(&[("proc/stat", &switches(1000))]);
    let (watcher, ends) = start(plan(tree));
    after(2, &ends);
    write(&root, "proc/stat.new", &switches(1700));
    std::fs::rename(root.path().join("proc/stat.new"), root.path().join("proc/stat")).unwrap();
    after(4, &ends);
    let report = watcher.stop().unwrap();
    assert_eq!(value(&report.totals, "host.switches"), Reading::Value(700.0));
    assert!(report.snapshots >= 5 && report.seconds > 0.0 && report.cost > 0.0);
    let points = report.timeline.seconds.len();
    assert_eq!(report.snapshots - 1, points, "the first has nothing to be compared with");
    assert!(report.unknown.iter().any(|(name, _)| name == "host.pressure.cpu"));
}

#[test]
fn it_stops_at_once_however_long_the_interval() {
    let (_root, tree) = tree(&[("proc/stat", &switches(1))]);
    let start_time = Instant::now();
    let (watcher, _) = start(WatchPlan { interval: Duration::from_secs(3600), ..plan(tree) });
    let report = watcher.stop().unwrap();
    assert_eq!(report.snapshots, 2, "the first and the last");
    assert!(start_time.elapsed() < Duration::from_secs(600));
}

#[test]
fn an_ended_server_is_unknown_from_then_on() {
    let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let set = |pid| ProcessSet::new(Tree::live(), &[pid], None);
    let processes =
        vec![("server".to_owned(), set(child.id())), ("client".to_owned(), set(std::process::id()))];
    let (watcher, ends) = start(WatchPlan { processes, ..plan(Tree::live()) });
    after(2, &ends);
    child.kill().unwrap();
    child.wait().unwrap();
    let snapshots = ends.lock().unwrap().len();
    after(snapshots + 2, &ends);
    let report = watcher.stop().unwrap();
    let values = |name: &str| {
        let mut columns = report.timeline.columns.iter();
        columns.find(|column| column.name == name).unwrap().values.clone()
    };
    let threads = values("server.threads");
    assert_eq!((threads.first(), threads.last()), (Some(&Some(1.0)), Some(&None)));
    assert!(values("client.threads").iter().all(Option::is_some));
    assert!(value(&report.totals, "server.user").reason() == Some("the server has ended"));
    let [server, client] = &report.thread_cpus[..] else { panic!("{:?}", report.thread_cpus) };
    assert!(server.used.reason().is_some() && client.used.value().is_some());
}

/// A sidecar that answers with each of these in turn, then with the last. An empty one never answers.
fn sidecar(answers: &'static [&'static str]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (at, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let body = answers[at.min(answers.len() - 1)];
            if body.is_empty() {
                // Does not answer until the client is gone.
                let _ = stream.read(&mut request);
                continue;
            }
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        }
    });
    address
}

#[test]
fn go_metrics_are_read_from_the_sidecar() {
    let address = sidecar(&[
        r#"{"runtime": {"/gc/cycles/total:gc-cycles": 5}}"#,
        r#"{"runtime": {"/gc/cycles/total:gc-cycles": 9}}"#,
    ]);
    let (_root, tree) = tree(&[("proc/stat", &switches(1))]);
    // An answer may take half of this: more than on any busy machine.
    let (watcher, ends) =
        start(WatchPlan { sidecar: Some(address), interval: Duration::from_millis(500), ..plan(tree) });
    after(2, &ends);
    let report = watcher.stop().unwrap();
    assert_eq!(value(&report.totals, "go.gc.cycles"), Reading::Value(4.0));
    assert!(value(&report.totals, "go.goroutines").reason().unwrap().contains("this Go, or the server"));
    assert!(
        !report.unknown.iter().any(|(name, _)| name == "go.gc.cycles"),
        "the end, where it is not asked, is no gap"
    );
}

#[test]
fn a_silent_sidecar_delays_neither_snapshots_nor_the_end() {
    let address = sidecar(&[""]);
    let (_root, tree) = tree(&[("proc/stat", &switches(1))]);
    let (watcher, ends) = start(WatchPlan { sidecar: Some(address), ..plan(tree) });
    let start_time = Instant::now();
    after(5, &ends);
    let report = watcher.stop().unwrap();
    // One request would wait for its own time limit.
    assert!(start_time.elapsed() < go::VARIABLES.time, "{:?}", start_time.elapsed());
    assert_eq!(value(&report.totals, "host.switches"), Reading::Value(0.0));
    assert!(value(&report.totals, "go.gc.cycles").reason().unwrap().contains("never answered"));
    let reason =
        report.unknown.iter().find(|(name, _)| name == "go.goroutines").map(|(_, reason)| reason.as_str());
    assert!(reason.is_some_and(|reason| reason.contains("answer")), "{reason:?}");
}

#[test]
fn one_answer_shows_no_growth() {
    let address =
        sidecar(&[r#"{"runtime": {"/gc/cycles/total:gc-cycles": 5, "/gc/heap/live:bytes": 7}}"#, ""]);
    let (_root, tree) = tree(&[("proc/stat", &switches(1))]);
    let (watcher, ends) =
        start(WatchPlan { sidecar: Some(address), interval: Duration::from_millis(500), ..plan(tree) });
    after(1, &ends);
    let report = watcher.stop().unwrap();
    assert!(value(&report.totals, "go.gc.cycles").reason().unwrap().contains("only once"));
}

#[test]
fn the_accept_queue_is_a_column() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let _waiting = std::net::TcpStream::connect(address).unwrap();
    let (watcher, ends) = start(WatchPlan { listener: Some(address), ..plan(Tree::live()) });
    after(2, &ends);
    let report = watcher.stop().unwrap();
    match value(&report.totals, "sockets.listen.queue") {
        Reading::Value(queue) => assert!((queue - 1.0).abs() < 1e-9, "{queue}"),
        Reading::Unknown(reason) => assert!(reason.starts_with("sock_diag:"), "{reason}"),
    }
    assert!(value(&report.totals, "sockets.listen.backlog") != Reading::Value(0.0));
}
