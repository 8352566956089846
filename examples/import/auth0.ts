/**
 * The file with password hashes that Auth0's support sends (one JSON object a line), for `npm run users -- import`.
 *
 *   node examples/import/auth0.ts users.ndjson-of-auth0 > users.ndjson
 */
import { readFileSync } from 'node:fs'

interface Auth0User {
  _id?: { $oid: string }
  email?: string
  email_verified?: boolean
  phone_number?: string
  /** bcrypt. */
  passwordHash?: string
  name?: string
  picture?: string
  user_metadata?: object
  app_metadata?: object
}

const [file] = process.argv.slice(2)
if (!file) throw new Error('Name the file.')
const lines = readFileSync(file, 'utf8').split('\n')
for (const line of lines) if (line.trim()) console.log(JSON.stringify(convert(JSON.parse(line))))

function convert(user: Auth0User) {
  const { _id, email, phone_number: phone, passwordHash: password_hash, name, picture } = user
  return {
    ...{ email, email_confirm: user.email_verified === true, phone, password_hash },
    user_metadata: { full_name: name, avatar_url: picture, ...user.user_metadata },
    app_metadata: { ...(_id && { auth0_id: `auth0|${_id.$oid}` }), ...user.app_metadata },
  }
}
