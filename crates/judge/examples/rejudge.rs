//! Judges a record again: FILE on standard output.
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let mut record: figure::Record = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    judge::judge(&mut record);
    println!("{}", serde_json::to_string(&record).unwrap());
}
