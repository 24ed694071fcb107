//! Which runs of a text are rounds of one figure: what stands between them decides.

use figure::evidence::http::CONNECTIONS;
use figure::{Record, Verdict};

use crate::published::{judged, nothing};

/// wrk's report without the lines that name its load; on so many connections, each for `mean` milliseconds.
fn cut(connections: f64, mean: f64) -> String {
    let rate = connections / mean * 1e3;
    format!(
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   {mean:.2}ms    0.10ms  53.00ms   77.78%\n    Req/Sec     \
         5.06k   326.95     5.77k    67.75%\n  {:.0} requests in 10.00s, 285.57MB read\nRequests/sec: {rate:.2}\nTransfer/sec:     \
         14.21MB\n",
        rate * 10.0
    )
}

/// The same whole.
fn whole(connections: f64, mean: f64) -> String {
    format!(
        "Running 10s test @ http://127.0.0.1:8080\n  2 threads and {connections} connections\n{}",
        cut(connections, mean)
    )
}

/// For each rate how many rounds it has.
fn rounds(record: &Record) -> Vec<usize> {
    let rates = record.figures.iter().filter(|figure| figure.id.ends_with(".rate"));
    rates.map(|figure| figure.rounds.len()).collect()
}

#[test]
fn words_between_two_runs_tell_them_apart() {
    let (fast, slow) = (whole(64.0, 1.0), whole(64.0, 8.0));
    for between in [
        "Here is the spring-boot-undertow (undertow embedded) performance.",
        "Node express framework.\nTo start the server\n\n```\ncd node-express\nnpm install\nnode server.js\n```\n\nThe test result.",
        "<summary><strong>memcached</strong> running in docker with `-m 1024` on a laptop</summary>",
        "# Redka",
        "### Benchmark #2\n- __worker_count__: 9\n- __worker_class__: eventlet\n",
    ] {
        let text = format!("# Server\n\n```\n{fast}```\n\n{between}\n\n```\n{slow}```\n");
        let record = judged(&[&text], &nothing());
        assert_eq!(rounds(&record), [1, 1], "{between}");
        assert!(record.figures.iter().all(|figure| figure.verdict == Some(Verdict::Valid)), "{between}");
    }
}

#[test]
fn numbers_and_other_scripts_are_words_too() {
    let (fast, slow) = (whole(64.0, 1.0), whole(64.0, 8.0));
    for between in [
        "So that is 2 a second. Then I hit my new server (nginx, SSD, 4 GB of RAM),",
        "차량 서비스 재시작 후 부하 2",
        "# видно, что после 5 минут стало хуже",
        "### With 2 workers\n\nLast run: `2021-04-19`\n4 CPUs, 8 GB\n",
        "`http://localhost:8080/b`",
        "<td>\n<span class='url'>https://api.example.com/users/13</span><br />",
    ] {
        let text = format!("# Server\n\n```\n{fast}```\n\n{between}\n\n```\n{slow}```\n");
        let record = judged(&[&text], &nothing());
        assert_eq!(rounds(&record), [1, 1], "{between}");
        assert!(record.figures.iter().all(|figure| figure.verdict == Some(Verdict::Valid)), "{between}");
    }
}

#[test]
fn a_line_that_stands_apart_tells_runs_apart() {
    let (fast, slow) = (whole(64.0, 1.0), whole(64.0, 8.0));
    for form in
        ["{}", "1. {}", "> {}", "{}\n-----", "- **{}**", "<b>{}</b>", "# with {}", "$ echo {}", "*{}*"]
    {
        let of = |name: &str| form.replace("{}", name);
        for (one, other) in
            [("nginx", "apache"), ("v1.2", "v2.0"), ("4 workers", "8 workers"), ("main", "my branch")]
        {
            let text = format!("{}\n\n{fast}\n{}\n\n{slow}", of(one), of(other));
            assert_eq!(rounds(&judged(&[&text], &nothing())), [1, 1], "{text}");
        }
        let text = format!("{0}\n\n{fast}\n{0}\n\n{fast}", of("nginx"));
        assert_eq!(rounds(&judged(&[&text], &nothing())), [2], "{text}");
    }
}

#[test]
fn a_label_of_all_runs_hides_none_above_it() {
    let of =
        |kernel: &str, mean: f64| format!("Linux {kernel}:\n\nResults (all jobs):\n{}\n", whole(64.0, mean));
    let text = format!("{}{}{}", of("4.4", 1.0), of("5.4", 8.0), of("5.17", 3.0));
    assert_eq!(rounds(&judged(&[&text], &nothing())), [1, 1, 1]);
    let text = format!("{}{}{}", of("4.4", 1.0), of("4.4", 1.01), of("4.4", 1.0));
    assert_eq!(rounds(&judged(&[&text], &nothing())), [3]);
}

#[test]
fn runs_that_were_only_repeated_are_rounds() {
    let (one, other) = (whole(64.0, 1.0), whole(64.0, 1.01));
    for between in [
        "",
        "Run 2:",
        "#### Take 2",
        "I ran it again to be sure.",
        "and reran the same thing",
        "And here it is a second time, which is close to the first of the two.",
        "$ wrk -t2 -c64 -d10s http://127.0.0.1:8080",
    ] {
        let first = if between.starts_with('$') { between } else { "" };
        let text = format!("{first}\n{one}\n{between}\n{other}");
        assert_eq!(rounds(&judged(&[&text], &nothing())), [2], "{between}");
    }
}

#[test]
fn lists_of_settings_tell_runs_apart_where_they_differ() {
    let (fast, slow) = (whole(64.0, 1.0), whole(64.0, 8.0));
    let of = |number: u32, worker: &str| {
        format!("### Run #{number}\n- request_time: `1 second`\n- worker_class: {worker}\n\n```\n")
    };
    let text = format!("{}{fast}```\n{}{slow}```\n", of(1, "sync"), of(2, "eventlet"));
    assert_eq!(rounds(&judged(&[&text], &nothing())), [1, 1]);
    let text = format!("{}{fast}```\n{}{fast}```\n", of(1, "sync"), of(2, "sync"));
    assert_eq!(rounds(&judged(&[&text], &nothing())), [2]);
}

#[test]
fn the_command_has_the_connections_of_a_run_whose_head_is_lost() {
    for (command, opened) in [
        ("./wrk -t2 -c2 -d10s http://10.0.0.1:8888", 2.0),
        ("$ wrk -t4 -c30 -d10s http://10.0.0.1:8888", 28.0),
        ("wrk --threads=8 --connections 64 http://10.0.0.1:8888", 64.0),
        ("wrk http://10.0.0.1:8888", 10.0),
    ] {
        let record = judged(&[&format!("```\n{command}\n\n{}```\n", cut(opened, 0.5))], &nothing());
        let rate = record.figures.iter().find(|figure| figure.id.ends_with(".rate")).unwrap();
        assert_eq!(rate.conditions.get(CONNECTIONS), Some(opened), "{command}");
        assert_eq!(rate.verdict, Some(Verdict::Valid), "{command}: {:#?}", rate.checks);
    }
    let record = judged(&[&format!("wrk -t2 -c$N http://10.0.0.1:8888\n{}", cut(8.0, 0.5))], &nothing());
    assert_eq!(record.figures[0].conditions.get(CONNECTIONS), None);
    assert_eq!(record.figures[0].verdict, Some(Verdict::Unverified));
}

#[test]
fn runs_behind_other_commands_are_no_rounds_of_one_figure() {
    let command = |connections: f64| format!("./wrk -t2 -c{connections} -d10s http://10.0.0.1:8888\n");
    let text: String = [2.0, 16.0, 128.0]
        .into_iter()
        .map(|connections| {
            let own = cut(connections, 0.25);
            format!("{}\n{own}\n{own}\n{own}\n", command(connections))
        })
        .collect();
    let record = judged(&[&text], &nothing());
    assert_eq!(rounds(&record), [1, 2, 1, 2, 1, 2]);
    assert!(
        record.figures.iter().all(|figure| figure.verdict <= Some(Verdict::Unverified)),
        "{:#?}",
        record.figures
    );
}
