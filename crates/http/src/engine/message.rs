//! What the response parser and the chunk decoder share: limits, errors, framing, and where bodies go.

pub const MAX_HEAD: usize = 64 * 1024;
/// Largest length that a body may declare, 1 PiB: more is no answer to a benchmark.
pub const MAX_BODY: u64 = 1 << 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    Head,
    HeadLong,
    Headers,
    Length,
    LengthAbsurd,
    /// Transfer-Encoding in HTTP/1.0: the end of the body is undefined.
    Framing,
    Chunk,
    ChunkLineLong,
    Upgrade,
    Interim,
}

impl Malformed {
    /// In the order of [`Counts::malformed`](crate::record::Counts::malformed).
    pub const ALL: [Malformed; 10] = [
        Malformed::Head,
        Malformed::HeadLong,
        Malformed::Headers,
        Malformed::Length,
        Malformed::LengthAbsurd,
        Malformed::Framing,
        Malformed::Chunk,
        Malformed::ChunkLineLong,
        Malformed::Upgrade,
        Malformed::Interim,
    ];

    pub const fn text(self) -> &'static str {
        match self {
            Malformed::Head => "the head is not HTTP/1.x",
            Malformed::HeadLong => "the head has more than 64 KiB",
            Malformed::Headers => "more than 128 header lines",
            Malformed::Length => "Content-Length is no number, or there are several",
            Malformed::LengthAbsurd => "a body of more than 1 PiB",
            Malformed::Framing => "Transfer-Encoding in HTTP/1.0",
            Malformed::Chunk => "the framing of a chunked body is broken",
            Malformed::ChunkLineLong => "a size line or trailers of a chunked body that do not end",
            Malformed::Upgrade => "101, which was not requested",
            Malformed::Interim => "responses of status 1xx, and no answer",
        }
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
