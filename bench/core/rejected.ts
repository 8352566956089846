/** The server lacks the feature or is unreachable; the message is the reason shown to users. */
export class Rejected extends Error {
  override name = 'Rejected'
}
