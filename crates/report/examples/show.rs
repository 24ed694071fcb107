//! Prints a record file: FORMAT WIDTH FILE.
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let record: figure::Record = serde_json::from_str(&std::fs::read_to_string(&args[3]).unwrap()).unwrap();
    let options = report::Options::new(args[2].parse().unwrap());
    (report::format(&args[1]).unwrap().write)(&record, &options, &mut std::io::stdout()).unwrap();
}
