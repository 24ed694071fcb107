//! What the response parser and the chunk decoder share: limits, errors, framing, and where bodies go.

use crate::kinds::kinds;

pub const MAX_HEAD: usize = 64 * 1024;
/// Largest length that a body may declare, 1 PiB: more is no answer to a benchmark.
pub const MAX_BODY: u64 = 1 << 50;

kinds! {
    /// Why bytes are no response.
    Malformed {
        Head = "the head is not HTTP/1.x",
        HeadLong = "the head has more than 64 KiB",
        Headers = "more than 128 header lines",
        Length = "Content-Length is no number, or there are several",
        LengthAbsurd = "a body of more than 1 PiB",
        /// The end of such a body is undefined.
        Framing = "Transfer-Encoding in HTTP/1.0",
        Chunk = "the framing of a chunked body is broken",
        ChunkLineLong = "a size line or trailers of a chunked body that do not end",
        Upgrade = "101, which was not requested",
        Interim = "responses of status 1xx, and no answer",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// After this number of bytes.
    Length(u64),
    /// With its last chunk.
    Chunked {
        /// Whether there is a further transfer coding, such as gzip.
        is_coded: bool,
    },
    /// With the connection.
    UntilClose {
        /// Whether there is a transfer coding.
        is_coded: bool,
    },
}

pub trait Sink {
    /// The head of an answer with this framing came.
    #[inline]
    fn head(&mut self, framing: Framing) {
        let _ = framing;
    }

    fn body(&mut self, piece: &[u8]);
}

/// Discards bodies.
impl Sink for () {
    #[inline]
    fn body(&mut self, _piece: &[u8]) {}
}
