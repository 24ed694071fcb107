//! The class table of servers: how each brings connections, requests and goroutines together. Nothing else here knows a server by name.

/// How a server serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// A goroutine for each connection, and one for each request that watches whether the peer goes away.
    PerRequest,
    /// A goroutine of a pool for each connection, until that closes.
    Pooled,
    /// A few event loops for all connections.
    Multiplexed,
}

/// `http.subject`, and what it is.
const SERVERS: &[(&str, Model)] =
    &[("nethttp", Model::PerRequest), ("fasthttp", Model::Pooled), ("multiplexed", Model::Multiplexed)];

/// How this server serves, if it is known.
pub fn model(subject: &str) -> Option<Model> {
    SERVERS.iter().find(|(known, _)| *known == subject).map(|(_, model)| *model)
}
