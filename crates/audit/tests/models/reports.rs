//! What each tool prints of a run.

use super::Model;

fn ms(seconds: f64) -> String {
    format!("{:.2}ms", seconds * 1e3)
}

pub fn wrk(model: &Model) -> String {
    let ([_, mean, most], quantiles) = (model.extremes(), model.quantiles());
    let refused = match model.refusals() {
        0.0 => String::new(),
        refused => format!("  Non-2xx or 3xx responses: {refused}\n"),
    };
    format!(
        "Running {:.0}s test @ http://127.0.0.1:8080/\n  1 threads and {} connections\n  Thread Stats   Avg      Stdev     Max   \
         +/- Stdev\n    Latency   {}    {}  {}   77.78%\n    Req/Sec     5.06k   326.95     5.77k    67.75%\n  Latency \
         Distribution\n     50%    {}\n     90%    {}\n     99%    {}\n  {} requests in {:.2}s, 285.57MB read\n{refused}\
         Requests/sec: {:.2}\nTransfer/sec:     14.21MB\n",
        model.seconds,
        model.connections,
        ms(mean),
        ms(mean / 2.0),
        ms(most),
        ms(quantiles[0]),
        ms(quantiles[1]),
        ms(quantiles[2]),
        model.requests(),
        model.seconds,
        model.rate()
    )
}

pub fn hey(model: &Model) -> String {
    let ([least, mean, most], quantiles) = (model.extremes(), model.quantiles());
    let good = model.requests() - model.refusals();
    let refused = match model.refusals() {
        0.0 => String::new(),
        refused => format!("  [503]\t{refused} responses\n"),
    };
    format!(
        "$ hey -z {:.0}s -c {} http://127.0.0.1:8080/\n\nSummary:\n  Total:\t{:.4} secs\n  Slowest:\t{most:.4} secs\n  \
         Fastest:\t{least:.4} secs\n  Average:\t{mean:.4} secs\n  Requests/sec:\t{:.4}\n\nLatency distribution:\n  50% in {:.4} \
         secs\n  90% in {:.4} secs\n  99% in {:.4} secs\n\nStatus code distribution:\n  [200]\t{good} responses\n{refused}",
        model.seconds,
        model.connections,
        model.seconds,
        model.rate(),
        quantiles[0],
        quantiles[1],
        quantiles[2]
    )
}

pub fn ab(model: &Model) -> String {
    let ([least, mean, most], quantiles) = (model.extremes(), model.quantiles());
    let whole = |seconds: f64| format!("{:.0}", seconds * 1e3);
    let refused = match model.refusals() {
        0.0 => String::new(),
        refused => format!("Non-2xx responses:      {refused}\n"),
    };
    format!(
        "This is ApacheBench, Version 2.3 <$Revision: 1879490 $>\n\nServer Hostname:        127.0.0.1\nDocument Path:          /\n\n\
         Concurrency Level:      {}\nTime taken for tests:   {:.3} seconds\nComplete requests:      {}\nFailed requests:        0\n\
         {refused}Keep-Alive requests:    {}\nRequests per second:    {:.2} [#/sec] (mean)\n\nConnection Times (ms)\n              \
         min  mean[+/-sd] median   max\nTotal:        {}   {} {:.1}     {}     {}\n\nPercentage of the requests served within a \
         certain time (ms)\n  50%    {}\n  90%    {}\n  99%    {}\n",
        model.connections,
        model.seconds,
        model.requests(),
        model.requests(),
        model.rate(),
        whole(least),
        whole(mean),
        mean * 500.0,
        whole(quantiles[0]),
        whole(most),
        whole(quantiles[0]),
        whole(quantiles[1]),
        whole(quantiles[2])
    )
}

pub fn autocannon(model: &Model) -> String {
    let [least, mean, most, p50, p90, p99] = model.times();
    let good = model.requests() - model.refusals();
    format!(
        "$ autocannon -j -c {0} -d {1:.0} http://127.0.0.1:3000\n{{\"url\":\"http://127.0.0.1:3000\",\"connections\":{0},\"sampleInt\":1000,\
         \"pipelining\":1,\"duration\":{1:.2},\"errors\":0,\"timeouts\":0,\"mismatches\":0,\"2xx\":{good},\"3xx\":0,\"4xx\":{2},\"5xx\":0,\
         \"latency\":{{\"average\":{mean:.2},\"stddev\":1.0,\"min\":{least:.0},\"max\":{most:.0},\"p50\":{p50:.0},\"p90\":{p90:.0},\
         \"p99\":{p99:.0},\"totalCount\":{3}}},\"requests\":{{\"average\":{4:.1},\"total\":{3},\"sent\":{3}}}}}\n",
        model.connections,
        model.seconds,
        model.refusals(),
        model.requests(),
        model.rate()
    )
}

pub fn bombardier(model: &Model) -> String {
    let [_, mean, most, p50, p90, p99] = model.times();
    format!(
        "$ bombardier -l -c {0} -d {1:.0}s http://127.0.0.1:3000\nBombarding http://127.0.0.1:3000 for {1:.0}s using {0} \
         connection(s)\n[====] {1:.0}s\nDone!\nStatistics        Avg      Stdev        Max\n  Reqs/sec  {2:.2}  1.00  99999.00\n  \
         Latency  {mean:.2}ms  1.00ms  {most:.2}ms\n  Latency Distribution\n     50%  {p50:.2}ms\n     90%  {p90:.2}ms\n     99%  \
         {p99:.2}ms\n  HTTP codes:\n    1xx - 0, 2xx - {3}, 3xx - 0, 4xx - {4}, 5xx - 0\n    others - 0\n  Throughput:  1.00MB/s\n",
        model.connections,
        model.seconds,
        model.rate(),
        model.requests() - model.refusals(),
        model.refusals()
    )
}

pub fn siege(model: &Model) -> String {
    let [least, mean, most, ..] = model.times();
    format!(
        "$ siege -b -c {0} -t {1:.0}S http://127.0.0.1:3000\n** SIEGE 4.2.0\n** Preparing {0} concurrent users for battle.\nThe server is now \
         under siege...\nLifting the server siege...\nTransactions:  {2}    hits\nAvailability:  100.00 %\nElapsed time:  {1:.2} secs\nData \
         transferred:  1.00 MB\nResponse time:  {mean:.2} ms\nTransaction rate:  {3:.2} trans/sec\nThroughput:  1.00 MB/sec\n\
         Concurrency:  {4:.2}\nSuccessful transactions:  {5}\nFailed transactions:  0\nLongest transaction:  {most:.2} ms\nShortest \
         transaction:  {least:.2} ms\n",
        model.connections,
        model.seconds,
        model.requests(),
        model.rate(),
        model.connections * model.slower,
        model.requests() - model.refusals()
    )
}

/// Four streams on each connection, which share its latency.
pub fn h2load(model: &Model) -> String {
    let [least, mean, most, ..] = model.times();
    let (rate, requests, refused) = (4.0 * model.rate(), 4.0 * model.requests(), 4.0 * model.refusals());
    format!(
        "$ h2load -n {requests} -c {0} -m 4 http://127.0.0.1:3000\nstarting benchmark...\nspawning thread #0: {0} total client(s). {requests} \
         total requests\nApplication protocol: h2c\n\nfinished in {1:.2}s, {rate:.2} req/s, 1.00MB/s\nrequests: {requests} total, {requests} \
         started, {requests} done, {2} succeeded, {refused} failed, 0 errored, 0 timeout\nstatus codes: {2} 2xx, 0 3xx, {refused} 4xx, 0 \
         5xx\ntraffic: 1.00MB (1048576) total, 1.00KB (1024) headers (space savings 90.00%), 1.00MB (1048576) data\n                     \
         min         max         mean         sd        +/- sd\ntime for request:  {least:.2}ms  {most:.2}ms  {mean:.2}ms  1.00ms  \
         75.00%\ntime for connect:  100us  200us  150us  10us  75.00%\n",
        model.connections,
        model.seconds,
        requests - refused
    )
}
