//! The fetch layer over real loopback sockets, against servers that send what no library would.

mod access;
mod dns;
mod file;
mod http;
mod http2;
mod keep_alive;
mod limits;
mod mutated;
mod proxy;
mod server;
mod tls;
mod tunnel;
