//! Sentences for errors of a connection, with the option that helps.

use std::io::{self, ErrorKind};
use std::time::Duration;

use figure::format::{listed, plain_to, system_error};
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};

const INSECURE: &str = "--insecure accepts any certificate";
const MAX_NAMES: usize = 3;
const MAX_LETTERS: usize = 60;
const DAY: u64 = 24 * 3600;

pub fn of_tls(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(error) => of_certificate(error),
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "the server does not speak TLS: use http:// in --url".to_owned()
        }
        Error::InvalidMessage(_) => "the server sent a TLS message that cannot be read".to_owned(),
        Error::NoCertificatesPresented => "the server sent no certificate".to_owned(),
        Error::NoApplicationProtocol | Error::AlertReceived(AlertDescription::NoApplicationProtocol) => {
            "the server offers no http/1.1 (ALPN), which is the protocol of this load".to_owned()
        }
        Error::AlertReceived(
            alert @ (AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnknownCA
            | AlertDescription::CertificateUnknown),
        ) => {
            let alert = of_alert(*alert);
            format!("the server wants a certificate of its client ({alert}), and truebench has none to show")
        }
        Error::AlertReceived(alert) => format!("the server ended TLS by an alert: {}", of_alert(*alert)),
        Error::PeerIncompatible(reason) => format!(
            "the server has no version or cipher of TLS 1.2 or 1.3 in common with truebench: {}",
            words(&format!("{reason:?}"))
        ),
        Error::PeerMisbehaved(reason) => {
            format!("the server breaks the rules of TLS: {}", words(&format!("{reason:?}")))
        }
        Error::InappropriateMessage { .. } | Error::InappropriateHandshakeMessage { .. } => {
            "the server sent a TLS message that does not belong there".to_owned()
        }
        Error::PeerSentOversizedRecord => "the server sent a TLS record that is too long".to_owned(),
        Error::DecryptError => "a TLS message of the server cannot be decrypted".to_owned(),
        Error::General(text) => format!("TLS failed: {}", plain_to(text, MAX_LETTERS)),
        other => format!("TLS failed: {}", words(name(&format!("{other:?}")))),
    }
}

fn of_certificate(error: &CertificateError) -> String {
    match error {
        CertificateError::UnknownIssuer => format!(
            "the certificate's authority is not known: --cacert FILE names its certificate, or the server's own; {INSECURE}"
        ),
        CertificateError::Other(error) if is_authority(error) => format!(
            "the certificate is self-signed, an authority's own: --cacert FILE accepts it if it is in that file; {INSECURE}"
        ),
        CertificateError::BadSignature => format!(
            "the certificate is not signed by the authority of that name that this system knows: --cacert FILE names another, or the server's own certificate; {INSECURE}"
        ),
        CertificateError::Expired => format!("the certificate has expired: renew it; {INSECURE}"),
        CertificateError::ExpiredContext { time, not_after } => {
            let since = span(time.as_secs().saturating_sub(not_after.as_secs()));
            format!("the certificate expired {since} ago: renew it, or set this machine's clock; {INSECURE}")
        }
        CertificateError::NotValidYet => format!("the certificate is not valid yet; {INSECURE}"),
        CertificateError::NotValidYetContext { time, not_before } => {
            let until = span(not_before.as_secs().saturating_sub(time.as_secs()));
            format!(
                "the certificate is not valid before {until} from now: set this machine's clock; {INSECURE}"
            )
        }
        CertificateError::NotValidForName => {
            format!("the certificate is for another host: name its host in --url; {INSECURE}")
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names: Vec<String> =
                presented.iter().take(MAX_NAMES).map(|name| plain_to(&quoted(name), MAX_LETTERS)).collect();
            let names = match names.is_empty() {
                true => "no host (it has no subjectAltName)".to_owned(),
                false if presented.len() > MAX_NAMES => format!("{} and others", names.join(", ")),
                false => listed(&names),
            };
            let host = plain_to(&expected.to_str(), MAX_LETTERS);
            format!("the certificate is for {names}, not for {host}: name its host in --url; {INSECURE}")
        }
        other => {
            let reason = words(name(&format!("{other:?}")));
            format!("the certificate is not accepted ({reason}): replace it; {INSECURE}")
        }
    }
}

fn of_alert(alert: AlertDescription) -> String {
    alert.as_str().map_or_else(|| format!("number {}", u8::from(alert)), words)
}

/// Whether a server certificate was refused because it is a CA certificate.
pub(super) fn is_authority(error: &rustls::OtherError) -> bool {
    matches!(error.0.downcast_ref::<webpki::Error>(), Some(webpki::Error::CaUsedAsEndEntity))
}

pub fn of_io(error: &io::Error, is_encrypted: bool, patience: Duration) -> String {
    if let Some(error) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        return of_tls(error);
    }
    let other = if is_encrypted { "http:// in --url" } else { "https:// in --url" };
    let seconds = patience.as_secs();
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut if is_encrypted => format!(
            "no TLS handshake and no answer within {seconds} s; if the server does not speak TLS, use {other}"
        ),
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            format!("no answer within {seconds} s; if the server speaks TLS, use {other}")
        }
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof if is_encrypted => {
            format!("the server ended the connection within TLS; if it does not speak TLS, use {other}")
        }
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
            format!("the server reset the connection before its answer; if it speaks TLS, use {other}")
        }
        _ => system_error(error),
    }
}

pub fn of_connect(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => {
            "the connection was refused: nothing listens there; start the server, or correct the port"
                .to_owned()
        }
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            "no answer in time: it is busy, or a firewall drops packets".to_owned()
        }
        ErrorKind::ConnectionReset => "the server reset the connection".to_owned(),
        _ => system_error(error),
    }
}

/// A time span: `3 days`, `5 hours`.
fn span(seconds: u64) -> String {
    let (count, unit) = match seconds {
        0..3600 => (seconds.div_ceil(60), "minute"),
        3600..DAY => (seconds / 3600, "hour"),
        _ => (seconds / DAY, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

/// The part in quotes of `DnsName("a.test")`, which is how rustls prints names; else the whole.
fn quoted(name: &str) -> String {
    let mut parts = name.split('"');
    parts.nth(1).unwrap_or(name).to_owned()
}

/// The name in `Name(…)` or `Name { … }`.
fn name(text: &str) -> &str {
    text.split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or(text)
}

/// Splits a CamelCase name into words: `BadEncoding` becomes "bad encoding".
fn words(name: &str) -> String {
    let mut text = String::new();
    let (mut was_lower, letters) = (false, self::name(name).chars());
    for letter in letters {
        if letter.is_ascii_uppercase() && was_lower {
            text.push(' ');
        }
        was_lower = !letter.is_ascii_uppercase();
        text.push(letter.to_ascii_lowercase());
    }
    text
}

#[cfg(test)]
mod unit {
    use std::sync::Arc;

    use rustls::pki_types::{ServerName, UnixTime};
    use rustls::{OtherError, PeerIncompatible, PeerMisbehaved};

    use super::*;

    /// No identifier, no errno, no empty reason.
    fn assert_sentence(text: &str) {
        let is_name = |word: &str| {
            let letters: Vec<char> = word.chars().collect();
            letters.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        };
        let allowed = ["subjectAltName"];
        let odd = text
            .split(|letter: char| !letter.is_alphanumeric())
            .find(|word| is_name(word) && !allowed.contains(word));
        assert_eq!(odd, None, "{text}");
        assert!(
            !text.contains("os error") && !text.contains('{') && text.split_whitespace().count() > 3,
            "{text}"
        );
    }

    #[test]
    fn every_error_of_tls_is_a_sentence() {
        let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let expected = ServerName::try_from("b.test").unwrap();
        let for_names = |names: &[&str]| CertificateError::NotValidForNameContext {
            expected: expected.clone(),
            presented: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        let authority = OtherError(Arc::new(webpki::Error::CaUsedAsEndEntity));
        let certificates = [
            (CertificateError::UnknownIssuer, "--cacert"),
            (CertificateError::Other(authority), "--cacert"),
            (CertificateError::Other(OtherError(Arc::new(webpki::Error::BadDer))), "--insecure"),
            (CertificateError::Expired, "--insecure"),
            (CertificateError::ExpiredContext { time: at(10 * DAY), not_after: at(DAY) }, "9 days"),
            (CertificateError::NotValidYet, "--insecure"),
            (CertificateError::NotValidYetContext { time: at(0), not_before: at(7200) }, "2 hours"),
            (CertificateError::NotValidForName, "--url"),
            (for_names(&["DnsName(\"a.test\")"]), "for a.test, not for b.test"),
            (for_names(&[]), "subjectAltName"),
            (for_names(&["a", "b", "c", "d"]), "and others"),
            (CertificateError::BadEncoding, "bad encoding"),
            (CertificateError::BadSignature, "--cacert"),
            (CertificateError::Revoked, "revoked"),
            (CertificateError::InvalidPurpose, "invalid purpose"),
            (CertificateError::UnhandledCriticalExtension, "unhandled critical extension"),
            (CertificateError::ApplicationVerificationFailure, "application verification failure"),
        ];
        for (error, word) in certificates {
            let text = of_tls(&Error::InvalidCertificate(error));
            assert_sentence(&text);
            assert!(text.contains(word), "{word}: {text}");
        }
        for (error, word) in [
            (Error::InvalidMessage(InvalidMessage::InvalidContentType), "http://"),
            (Error::InvalidMessage(InvalidMessage::MessageTooLarge), "TLS message"),
            (Error::NoCertificatesPresented, "no certificate"),
            (Error::NoApplicationProtocol, "http/1.1"),
            (Error::AlertReceived(AlertDescription::NoApplicationProtocol), "http/1.1"),
            (Error::AlertReceived(AlertDescription::HandshakeFailure), "handshake failure"),
            (Error::AlertReceived(AlertDescription::CertificateRequired), "certificate required"),
            (Error::AlertReceived(AlertDescription::Unknown(99)), "number 99"),
            (Error::PeerIncompatible(PeerIncompatible::Tls12NotOffered), "tls12 not offered"),
            (Error::PeerMisbehaved(PeerMisbehaved::MissingKeyShare), "missing key share"),
            (
                Error::InappropriateMessage { expect_types: vec![], got_type: rustls::ContentType::Alert },
                "TLS message",
            ),
            (Error::PeerSentOversizedRecord, "too long"),
            (Error::DecryptError, "decrypted"),
            (Error::EncryptError, "encrypt error"),
            (Error::HandshakeNotComplete, "handshake not complete"),
            (Error::FailedToGetRandomBytes, "failed to get random bytes"),
            (Error::General("it broke".to_owned()), "it broke"),
        ] {
            let text = of_tls(&error);
            assert_sentence(&text);
            assert!(text.contains(word), "{word}: {text}");
        }
    }

    #[test]
    fn every_error_of_the_system_is_a_sentence_and_names_the_other_scheme() {
        let patience = Duration::from_secs(10);
        for kind in
            [ErrorKind::WouldBlock, ErrorKind::TimedOut, ErrorKind::ConnectionReset, ErrorKind::BrokenPipe]
        {
            for (is_encrypted, other) in [(false, "https://"), (true, "http://")] {
                let text = of_io(&kind.into(), is_encrypted, patience);
                assert_sentence(&text);
                assert!(text.contains(other), "{text}");
            }
        }
        let wrapped = io::Error::new(ErrorKind::InvalidData, Error::NoCertificatesPresented);
        assert_eq!(of_io(&wrapped, true, patience), of_tls(&Error::NoCertificatesPresented));
        for number in 1..=133 {
            let error = io::Error::from_raw_os_error(number);
            for text in [of_io(&error, false, patience), of_connect(&error)] {
                assert!(!text.contains("os error") && !text.is_empty(), "{text}");
            }
        }
    }
}
