/** What a user types to say who they are: an email address, or a username where these are enabled. */
import type { Deps } from '../../plugins/define-plugin.ts'

/** No username has an @. */
export function parseIdentifier(
  { config }: Deps<'config'>,
  text = '',
): { email: string } | { username: string } {
  const isUsername = config.AUTH_USERNAMES_ENABLED && text !== '' && !text.includes('@')
  return isUsername ? { username: text } : { email: text }
}
