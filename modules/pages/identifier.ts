/** The identifier that a user types: an email address, or a username where these are enabled. */
import type { FastifyInstance } from 'fastify'

/** Usernames contain no @. */
export function parseIdentifier(
  { config }: FastifyInstance,
  text = '',
): { email: string } | { username: string } {
  const isUsername = config.AUTH_USERNAMES_ENABLED && text !== '' && !text.includes('@')
  return isUsername ? { username: text } : { email: text }
}
