//! The fetch layer over real loopback sockets, against servers that send what no library would.

mod dns;
mod file;
mod http;
mod keep_alive;
mod limits;
mod mutated;
mod server;
mod tls;
