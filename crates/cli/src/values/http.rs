//! Values of loads: numbers such as `8k`, rates, header lines, URLs, latencies to hold.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use figure::secrets;
use http::modes::options::Slo as LatencyGoal;
use url::Url;

/// A header line: its name and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header(pub String, pub String);

/// A latency objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slo(pub LatencyGoal);

/// A number with a decimal suffix: `200`, `8k`, `1.5M`.
fn number(text: &str) -> Option<f64> {
    let (digits, factor) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (&text[..at], 1e3),
        (at, 'm' | 'M') => (&text[..at], 1e6),
        (at, 'g' | 'G') => (&text[..at], 1e9),
        _ => (text, 1.0),
    };
    let number = digits.replace('_', "").parse::<f64>().ok()? * factor;
    (number.is_finite() && number > 0.0).then_some(number)
}

/// A number of connections or workers: `200`, `8k`.
///
/// # Errors
/// A sentence with examples.
pub fn count(text: &str) -> Result<u32, String> {
    match number(text) {
        Some(number) if number.fract() == 0.0 && number <= 1e6 => Ok(number as u32),
        _ => Err(format!("'{text}' is no number from 1 to 1M: write 200 or 8k")),
    }
}

/// A number of requests: `100000`, `1M`.
///
/// # Errors
/// A sentence with examples.
pub fn long_count(text: &str) -> Result<u64, String> {
    match number(text) {
        Some(number) if number.fract() == 0.0 && number <= 1e15 => Ok(number as u64),
        _ => Err(format!("'{text}' is no number of requests: write 100000 or 1M")),
    }
}

/// The highest rate: one a nanosecond, the resolution of the clock.
const MOST_RATE: f64 = 1e9;

/// Something a second: `2000`, `20k`.
///
/// # Errors
/// A sentence with examples.
pub fn rate(text: &str) -> Result<f64, String> {
    number(text.trim_end_matches("/s"))
        .filter(|rate| *rate <= MOST_RATE)
        .ok_or_else(|| format!("'{text}' is no rate from 0 to 1G a second: write 2000 or 20k"))
}

/// A header line: `Accept: text/html`.
///
/// # Errors
/// A sentence with an example.
pub fn header(text: &str) -> Result<Header, String> {
    // The line may be a secret: it is not quoted.
    let wrong = |why: &str| Err(format!("it is no header line, {why}: write 'Accept: text/html'"));
    let Some((name, value)) = text.split_once(':') else { return wrong("it has no colon") };
    let (name, value) = (name.trim_matches(' '), value.trim_matches([' ', '\t']));
    // RFC 9110, 5.6.2 (token) and 5.5 (field-value).
    let is_of_token = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
    if name.is_empty() || !name.chars().all(is_of_token) {
        return wrong("a name has letters, digits and !#$%&'*+-.^_`|~ only");
    }
    if value.chars().any(|letter| letter.is_control() && letter != '\t') {
        return wrong("a value has no control characters");
    }
    Ok(Header(name.to_owned(), value.to_owned()))
}

/// A variable: `GOGC=200`.
///
/// # Errors
/// A sentence with an example.
pub fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("it is no variable: write GOGC=200".to_owned()),
    }
}

/// A URL of http or https.
///
/// # Errors
/// A sentence with an example.
pub fn url(text: &str) -> Result<Url, String> {
    let shown = secrets::url(text);
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    match Url::parse(&whole) {
        Ok(url) if url.port() == Some(0) => Err(format!("'{shown}': no server is at port 0")),
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        Ok(url) => {
            Err(format!("'{shown}': {} is not served here: write http://host:port/path", url.scheme()))
        }
        Err(error) => Err(format!("'{shown}' is no URL ({error}): write http://host:port/path")),
    }
}

/// A URL without its user and password, and what says them in an Authorization line (RFC 7617), if it has
/// them.
pub fn without_credentials(url: &Url) -> (Url, Option<String>) {
    let mut bare = url.clone();
    // A URL with a host can be without them.
    let _ = bare.set_username("").and_then(|()| bare.set_password(None));
    let password = url.password().unwrap_or_default();
    let has_any = !url.username().is_empty() || url.password().is_some();
    let pair = [decoded(url.username()), vec![b':'], decoded(password)].concat();
    (bare, has_any.then(|| format!("Basic {}", base64(&pair))))
}

/// Bytes behind percent signs (RFC 3986, section 2.1).
fn decoded(text: &str) -> Vec<u8> {
    let (mut bytes, mut left) = (Vec::new(), text.as_bytes());
    while let Some((&first, rest)) = left.split_first() {
        let code =
            rest.get(..2).filter(|_| first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = code.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(first));
        left = if byte.is_some() { &rest[2..] } else { rest };
    }
    bytes
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |part: &[u8]| {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | usize::from(*part.get(at).unwrap_or(&0)));
        let letter = |at: usize| char::from(LETTERS[bits >> (18 - 6 * at) & 63]);
        (0..4).map(|at| if at <= part.len() { letter(at) } else { '=' }).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

/// A host and a port: `127.0.0.1:6060`, or as a URL.
///
/// # Errors
/// A sentence with an example.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let bare = text.trim_start_matches("http://");
    let bare = bare.split('/').next().unwrap_or_default();
    let address = bare.to_socket_addrs().ok().and_then(|mut all| all.next());
    address.ok_or_else(|| format!("'{text}' is no host and port that is known: write 127.0.0.1:6060"))
}

/// A token: any text without spaces, short enough for one line.
///
/// # Errors
/// What is wrong with it.
pub fn token(text: &str) -> Result<String, String> {
    match text.len() {
        1..=1024 if text.chars().all(|letter| letter.is_ascii_graphic()) => Ok(text.to_owned()),
        _ => Err("a token has 1 to 1024 letters, digits and signs, and no spaces".to_owned()),
    }
}

/// A latency to hold: `p99<5ms`.
///
/// # Errors
/// A sentence with an example.
pub fn slo(text: &str) -> Result<Slo, String> {
    let parsed = text.split_once('<').and_then(|(quantile, limit)| {
        let percent: f64 = quantile.trim().strip_prefix('p')?.parse().ok()?;
        let limit = super::seconds(limit.trim_start_matches('=').trim()).ok()?;
        let quantile = percent / 100.0;
        (quantile > 0.0 && quantile < 1.0)
            .then(|| Slo(LatencyGoal { quantile, limit: Duration::from_secs_f64(limit) }))
    });
    parsed.ok_or_else(|| format!("'{text}' is no latency to hold: write p99<5ms"))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn numbers_have_suffixes() {
        assert_eq!((count("200"), count("8k"), long_count("1.5M")), (Ok(200), Ok(8000), Ok(1_500_000)));
        assert_eq!(rate("20k/s"), Ok(20_000.0));
        assert!(rate("1e99").is_err() && rate("1.1G").is_err() && rate("1G").is_ok());
        for wrong in ["", "k", "0", "-1", "1.5", "many", "2M"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn credentials_go_into_a_line_of_their_own() {
        let parts = |text: &str| without_credentials(&url(text).unwrap());
        for (given, bare, line) in [
            ("http://h/a", "http://h/a", None),
            // RFC 7617, section 2.
            (
                "http://Aladdin:open%20sesame@h/a?b",
                "http://h/a?b",
                Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ),
            ("u@h", "http://h/", Some("Basic dTo=")),
            ("http://:p@h/", "http://h/", Some("Basic OnA=")),
            ("http://%C3%A9:100%25@h/", "http://h/", Some("Basic w6k6MTAwJQ==")),
        ] {
            let (url, authorization) = parts(given);
            assert_eq!((url.as_str(), authorization.as_deref()), (bare, line), "{given}");
        }
        // RFC 4648, section 10.
        let texts = ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes()));
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
    }

    #[test]
    fn tokens_are_words() {
        assert_eq!(token("a-1"), Ok("a-1".to_owned()));
        for wrong in ["", "a b", "é", &"a".repeat(1025)] {
            assert!(token(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lines_urls_and_latencies() {
        assert_eq!(header("A-B:  c:d "), Ok(Header("A-B".to_owned(), "c:d".to_owned())));
        for wrong in
            [": x", "x", "a b: c", "a\r\nb: c", "é: c", "a: b\r\nc: d", "a: b\nc: d", "a: \0", "a: \u{7f}"]
        {
            assert!(header(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(header("x-1: caf\u{e9}\tb"), Ok(Header("x-1".to_owned(), "caf\u{e9}\tb".to_owned())));
        assert_eq!(url("localhost:80/a?b").unwrap().as_str(), "http://localhost/a?b");
        assert!(url("ftp://a/").is_err() && url("http://a:0/").is_err() && url("a:0").is_err());
        let goal = slo("p99.9<5ms").unwrap().0;
        assert!((goal.quantile - 0.999).abs() < 1e-12);
        assert_eq!(goal.limit, Duration::from_millis(5));
        assert!(slo("p0<5ms").is_err() && slo("p99<").is_err() && slo("99<5ms").is_err());
    }
}
