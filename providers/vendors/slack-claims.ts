/** Slack's userInfo, read by both of its providers. */
import { email, person } from '../identity.ts'
import { record, text } from '../json.ts'
import { type Profile, ProviderError } from '../provider.ts'

const team = 'https://slack.com/team_id'

/** `isVerified` reads `email_verified`. Throws ProviderError profile for `ok: false`, which Slack sends with status 200. */
export function slackProfile(
  body: unknown,
  iss: string,
  isVerified: (email_verified: unknown) => boolean,
): Profile {
  const user = record(body)
  if (user.ok === false) throw new ProviderError('profile', 'userInfo answered ok: false')
  const id = text(user['https://slack.com/user_id']) || text(user.sub)
  return {
    sub: id,
    claims: {
      ...person(id, text(user.name), text(user.picture)),
      iss,
      custom_claims: { [team]: text(user[team]) },
    },
    emails: email(text(user.email), { verified: isVerified(user.email_verified) }),
  }
}
