/**
 * Users of Auth0, for `npm run users -- import`: the export of users (a job `POST /api/v2/jobs/users-exports`, the
 * extension User Import/Export, or the users of the Management API) and the file with password hashes that Auth0's
 * support sends. The second alone has neither blocked users nor metadata nor identities.
 */
import { convertFiles, readArguments, visitRecords } from './shared/convert.ts'
import type { Fields } from './shared/fields.ts'
import { toIdentities, withAddresses } from './shared/identities.ts'
import { toTime } from './shared/time.ts'

const usage = 'node examples/import/auth0.ts users.json [hashes.json] [--provider NAME=OURS]'

/** Microsoft's ids are other ones than in sign-ins here. */
const { positionals, providers } = readArguments(usage, {
  'google-oauth2': 'google',
  apple: 'apple',
  facebook: 'facebook',
  github: 'github',
  twitter: 'twitter',
})
const [file = '', hashFile] = positionals
/** By the id of the user. */
const hashes = new Map<string, string>()
if (hashFile) await visitRecords([hashFile], 'users', 'read', readHash)
await convertFiles([file], { list: 'users', convert })
if (hashes.size > 0) console.error(`${hashes.size} password hashes belong to no user of ${file}`)

function convert(record: Fields) {
  const { id, createdAt } = readId(record)
  const { email, isEmailVerified, phone, isPhoneVerified } = readAddresses(record)
  const { links, own } = readIdentities(record)
  const identities = toIdentities(record, providers, links)
  const profile = ['name', 'nickname', 'given_name', 'family_name', 'username', 'picture'] as const
  const [full_name, nickname, given_name, family_name, preferred_username, avatar_url] =
    profile.map((name) => record.text(name))
  return {
    email,
    email_confirm: isEmailVerified,
    phone,
    phone_confirm: isPhoneVerified,
    password_hash:
      record.text('passwordHash') ?? takeHash([id, ...own.map(({ id }) => `auth0|${id}`)]),
    user_metadata: {
      full_name,
      nickname,
      given_name,
      family_name,
      preferred_username,
      avatar_url,
      ...record.object('user_metadata'),
    },
    app_metadata: { ...record.object('app_metadata'), auth0_id: id },
    ...(record.flag('blocked') && { banned_until: '2200-01-01T00:00:00Z' }),
    ...withAddresses(identities, {
      email: Boolean(email) && own.some(({ provider }) => provider !== 'sms'),
      phone: Boolean(phone) && own.some(({ provider }) => provider === 'sms'),
    }),
    created_at: record.time('created_at') ?? createdAt,
    updated_at: record.time('updated_at'),
    last_sign_in_at: record.time('last_login'),
  }
}

/** The file with hashes has the id without the connection, and a second one for users with an id of their own. */
function readId(record: Fields) {
  const own = record.text('alt_id')
  const objectId = record.fields('_id').text('$oid') ?? ''
  const id = record.text('user_id') ?? (own || objectId ? `auth0|${own ?? objectId}` : undefined)
  // An id of MongoDB begins with its time of creation.
  const isDated = /^[0-9a-f]{24}$/i.test(objectId)
  return { id, createdAt: isDated ? toTime(Number.parseInt(objectId.slice(0, 8), 16)) : undefined }
}

/** Tenants with flexible identifiers export them as a list, in place of the fields. */
function readAddresses(record: Fields) {
  const listed = record.list('identifiers').map((identifier) => ({
    type: identifier.text('type'),
    value: identifier.text('value'),
    isVerified: identifier.flag('verified'),
  }))
  const find = (wanted: string) => listed.find(({ type }) => type === wanted)
  const [email, phone] = [record.text('email'), record.text('phone_number')]
  const [isEmailVerified, isPhoneVerified] = [
    record.flag('email_verified'),
    record.flag('phone_verified'),
  ]
  const [otherEmail, otherPhone] = [find('email'), find('phone') ?? find('phone_number')]
  return {
    email: email ?? otherEmail?.value,
    isEmailVerified: email ? isEmailVerified : otherEmail?.isVerified === true,
    phone: phone ?? otherPhone?.value,
    isPhoneVerified: phone ? isPhoneVerified : otherPhone?.isVerified === true,
  }
}

/** Those at other providers, and the user's own at Auth0: a password, or codes by email or SMS. */
function readIdentities(record: Fields) {
  const own: { provider: string; id: string | undefined }[] = []
  const links = record.list('identities').flatMap((identity) => {
    const provider = identity.text('provider') ?? 'no provider'
    const connection = identity.text('connection') ?? provider
    const user = identity.text('user_id')
    if (['auth0', 'sms', 'email'].includes(provider)) {
      own.push({ provider, id: user })
      return []
    }
    const profile = identity.fields('profileData')
    const data = {
      email: profile.text('email'),
      full_name: profile.text('name'),
      avatar_url: profile.text('picture'),
    }
    // Connections that a tenant adds itself have a general provider, and their name before the id.
    const isOwn = provider === 'oauth2' || provider === 'oidc'
    const id =
      isOwn && user?.startsWith(`${connection}|`) ? user.slice(connection.length + 1) : user
    return [{ name: isOwn ? connection : provider, id, data }]
  })
  return { links, own }
}

/** What the other file says as well is not left out. */
function readHash(record: Fields): boolean {
  const { id } = readId(record)
  const hash = record.text('passwordHash')
  readAddresses(record)
  if (id && hash) hashes.set(id, hash)
  return true
}

function takeHash(ids: (string | undefined)[]): string | undefined {
  const id = ids.find((id) => id !== undefined && hashes.has(id)) ?? ''
  const hash = hashes.get(id)
  hashes.delete(id)
  return hash
}
