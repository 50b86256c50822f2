//! The real crawler against the synthetic web over real sockets, with a real name server.

mod bad_input;
mod complete;
mod killed;
mod orders;
mod site;
