/** The part of a pino logger that this folder needs. */
export interface MailLog {
  warn(details: object, message: string): void
}
