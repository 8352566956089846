/** Plain JSON, so that a queue can store it. */
export interface LinkContext {
  redirectTo: string
  /** The base URL of the link. */
  baseUrl: string
  pkce: Pkce | undefined
  /** The client's network, for send quotas; absent in jobs of an earlier release. */
  network?: string | undefined
  /** The UUID of the message, when the client gets one. */
  messageId?: string
}

/** The code challenge of the client (RFC 7636 §4.3). */
export interface Pkce {
  challenge: string
  method: 's256' | 'plain'
}
