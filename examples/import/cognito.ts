/**
 * `aws cognito-idp list-users --user-pool-id POOL --output json > export.json`, for `npm run users -- import`. Cognito
 * does not export password hashes: users sign in by link, code or provider, or set a password by recovery.
 *
 *   node examples/import/cognito.ts export.json > users.ndjson
 */
import { readFileSync } from 'node:fs'

interface CognitoUser {
  Enabled: boolean
  UserCreateDate: string
  Attributes: { Name: string; Value: string }[]
}

const [file] = process.argv.slice(2)
if (!file) throw new Error('Name the file.')
const { Users: users }: { Users: CognitoUser[] } = JSON.parse(readFileSync(file, 'utf8'))
for (const user of users) console.log(JSON.stringify(convert(user)))

function convert({ Enabled, UserCreateDate, Attributes }: CognitoUser) {
  const of = new Map(Attributes.map(({ Name, Value }) => [Name, Value]))
  return {
    // A UUID, which your own tables may refer to.
    id: of.get('sub'),
    email: of.get('email'),
    email_confirm: of.get('email_verified') === 'true',
    phone: of.get('phone_number'),
    phone_confirm: of.get('phone_number_verified') === 'true',
    user_metadata: { full_name: of.get('name'), avatar_url: of.get('picture') },
    ...(!Enabled && { banned_until: '2200-01-01T00:00:00Z' }),
    created_at: new Date(UserCreateDate).toISOString(),
  }
}
