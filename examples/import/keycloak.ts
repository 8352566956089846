/**
 * Users of Keycloak, for `npm run users -- import`: `kc.sh export --users same_file --realm REALM --file realm.json`, the
 * files of `--dir`, or an export of the versions before 8.
 */
import { convertFiles, readArguments } from './shared/convert.ts'
import type { Fields } from './shared/fields.ts'
import { toIdentities, withAddresses } from './shared/identities.ts'

const usage = 'node examples/import/keycloak.ts realm.json… [--provider ALIAS=OURS]'

/** By the default alias. Microsoft's ids are other ones than in sign-ins here. */
const { positionals: files, providers } = readArguments(usage, {
  google: 'google',
  facebook: 'facebook',
  github: 'github',
  gitlab: 'gitlab',
  twitter: 'twitter',
})
/** The names that passlib has for them. */
const digests = new Map([
  ['pbkdf2', 'pbkdf2-sha1'],
  ['pbkdf2-sha256', 'pbkdf2-sha256'],
  ['pbkdf2-sha512', 'pbkdf2-sha512'],
])
await convertFiles(files, { list: 'users', convert })

function convert(record: Fields) {
  if (record.text('serviceAccountClientId')) {
    record.leaveOut('service account')
    return undefined
  }
  const email = record.text('email')
  const username = record.text('username')
  const [firstName, lastName] = [record.text('firstName'), record.text('lastName')]
  const attributes = record.fields('attributes')
  const { phone, phone_confirm } = readPhone(attributes)
  const actions = new Set(record.texts('requiredActions'))
  const identities = toIdentities(record, providers, readLinks(record))
  const password = readPassword(record, actions.delete('UPDATE_PASSWORD'))
  const isEmailProven = !actions.delete('VERIFY_EMAIL')
  for (const action of actions) record.leaveOut(`required action ${action}`)
  return {
    id: record.text('id'),
    email,
    email_confirm: record.flag('emailVerified') && isEmailProven,
    phone,
    phone_confirm,
    password_hash: password,
    ...withAddresses(identities, { email: Boolean(email), phone: Boolean(phone) }),
    user_metadata: {
      full_name: [firstName, lastName].filter(Boolean).join(' ') || undefined,
      given_name: firstName,
      family_name: lastName,
      ...(username !== email?.toLowerCase() && { preferred_username: username }),
      avatar_url: attributes.texts('picture')[0],
      ...readAttributes(attributes),
    },
    app_metadata: readRoles(record),
    ...(!record.flag('enabled', true) && { banned_until: '2200-01-01T00:00:00Z' }),
    created_at: record.time('createdTimestamp'),
  }
}

/** The attributes that Keycloak maps to the claims of the scope `phone`. A number in another form would cost the user. */
function readPhone(attributes: Fields) {
  const [phone] = attributes.texts('phoneNumber')
  const [verified] = attributes.texts('phoneNumberVerified')
  if (!phone) return {}
  const digits = phone.replace(/[\s().-]/g, '')
  if (/^\+[1-9]\d{6,14}$/.test(digits)) return { phone: digits, phone_confirm: verified === 'true' }
  attributes.leaveOut('phoneNumber', 'not in international form')
  return {}
}

/** Each has a list of values. */
function readAttributes(attributes: Fields): object {
  const entries = Object.entries(attributes.others())
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      Array.isArray(value) && value.length === 1 ? value[0] : value,
    ]),
  )
}

/** What only administrators can change there. */
function readRoles(record: Fields): object {
  const [realm_roles, groups] = [record.texts('realmRoles'), record.texts('groups')]
  const client_roles = record.object('clientRoles')
  return {
    ...(realm_roles.length > 0 && { realm_roles }),
    ...(client_roles && { client_roles }),
    ...(groups.length > 0 && { groups }),
  }
}

function readLinks(record: Fields) {
  return record.list('federatedIdentities').map((link) => ({
    name: link.text('identityProvider') ?? 'no provider',
    id: link.text('userId'),
    data: { user_name: link.text('userName') },
  }))
}

function readPassword(record: Fields, isTemporary: boolean): string | undefined {
  let hash: string | undefined
  for (const credential of record.list('credentials')) {
    const type = credential.text('type') ?? 'no type'
    const reason = hash ? 'more than one' : isTemporary ? 'must be changed' : undefined
    if (type === 'password' && !reason) {
      hash = toHash(credential)
      if (!hash) record.leaveOut('credential password', 'unknown form')
    } else {
      record.leaveOut(`credential ${type}`, type === 'password' ? reason : undefined)
      credential.others()
    }
  }
  return hash
}

/**
 * As PHC strings and passlib write it. Keycloak 25 and later make argon2id, those before PBKDF2; those before 8 have other
 * names for the fields.
 */
function toHash(credential: Fields): string | undefined {
  const secret = credential.fields('secretData')
  const data = credential.fields('credentialData')
  const value = secret.text('value') ?? credential.text('hashedSaltedValue')
  const salt = secret.text('salt') ?? credential.text('salt')
  const algorithm = data.text('algorithm') ?? credential.text('algorithm') ?? 'pbkdf2'
  const rounds = data.text('hashIterations') ?? credential.text('hashIterations')
  const parameters = data.fields('additionalParameters')
  if (!value || !salt || !rounds) return undefined
  const end = [salt, value].map((text) => text.replace(/=+$/, ''))
  if (algorithm === 'argon2') {
    const [[memory], [lanes], [type = 'id'], [version = '1.3']] = [
      parameters.texts('memory'),
      parameters.texts('parallelism'),
      parameters.texts('type'),
      parameters.texts('version'),
    ]
    if (!['id', 'i'].includes(type) || version !== '1.3') return undefined
    return `$argon2${type}$v=19$m=${memory},t=${rounds},p=${lanes}$${end.join('$')}`
  }
  const digest = digests.get(algorithm)
  return digest && `$${digest}$${rounds}$${end.join('$').replaceAll('+', '.')}`
}
