/** The little of a logger that this layer needs; pino's loggers fit. */
export interface MailLog {
  warn(details: object, message: string): void
}
