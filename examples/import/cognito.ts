/**
 * `aws cognito-idp list-users --user-pool-id POOL --output json > export.json`, for `npm run users -- import`. Cognito
 * does not export password hashes: users sign in by link, code or provider, or set a password by recovery.
 */
import { convertFiles, readArguments } from './shared/convert.ts'
import { Fields } from './shared/fields.ts'
import { type Link, toIdentities, withAddresses } from './shared/identities.ts'
import { isObject } from './shared/json.ts'
import { readRecords } from './shared/records.ts'

const usage = 'node examples/import/cognito.ts export.json… [--provider NAME=OURS]'

const { positionals: files, providers } = readArguments(usage, {
  Google: 'google',
  Facebook: 'facebook',
  SignInWithApple: 'apple',
})
const linked = await findLinked(files)
await convertFiles(files, { list: 'Users', convert })

function convert(record: Fields) {
  const attributes = readAttributes(record)
  const status = record.text('UserStatus')
  const links = readLinks(attributes)
  const isExternal = status === 'EXTERNAL_PROVIDER'
  if (isExternal && links.some((link) => linked.has(toKey(link)))) {
    record.leaveOut('profile of an identity that another user has')
    return undefined
  }
  const [username, sub] = [record.text('Username'), attributes.text('sub')]
  const [email, phone] = [attributes.text('email'), attributes.text('phone_number')]
  const isDisabled = !record.flag('Enabled', true) || status === 'COMPROMISED'
  const identities = toIdentities(record, providers, links)
  const email_confirm = attributes.flag('email_verified')
  const phone_confirm = attributes.flag('phone_number_verified')
  const { app, user } = readMetadata(attributes)
  return {
    // A UUID, which your own tables may refer to.
    id: sub,
    email,
    email_confirm,
    phone,
    phone_confirm,
    ...withAddresses(identities, {
      email: Boolean(email) && !isExternal,
      phone: Boolean(phone) && !isExternal,
    }),
    user_metadata: user,
    app_metadata: { ...(username !== sub && { cognito_username: username }), ...app },
    ...(isDisabled && { banned_until: '2200-01-01T00:00:00Z' }),
    created_at: record.time('UserCreateDate'),
    updated_at: record.time('UserLastModifiedDate'),
  }
}

function readAttributes(record: Fields): Fields {
  const pairs = record.list('Attributes', 'UserAttributes')
  const values = pairs.map((pair) => [pair.text('Name') ?? '', pair.text('Value')])
  return record.part('Attributes', Object.fromEntries(values))
}

/** The attribute is JSON text. */
function readLinks(attributes: Fields): Link[] {
  return attributes.list('identities').map((identity) => ({
    name: identity.text('providerName', 'providerType') ?? 'no provider',
    id: identity.text('userId'),
    createdAt: identity.time('dateCreated'),
  }))
}

/** Only the developer can write attributes that begin with `dev:`. */
function readMetadata(attributes: Fields) {
  const own = { full_name: attributes.text('name'), avatar_url: attributes.text('picture') }
  const others = Object.entries(attributes.others())
  const isDeveloper = ([name]: [string, unknown]) => name.startsWith('dev:')
  return {
    app: Object.fromEntries(others.filter(isDeveloper)),
    user: { ...own, ...Object.fromEntries(others.filter((entry) => !isDeveloper(entry))) },
  }
}

/** Identities of users who also have a password: Cognito lists each a second time, as a user of its own. */
async function findLinked(paths: string[]): Promise<Set<string>> {
  const found = new Set<string>()
  for (const path of paths) {
    for await (const { value } of readRecords(path, 'Users')) {
      if (!isObject(value) || value.UserStatus === 'EXTERNAL_PROVIDER') continue
      const links = readLinks(readAttributes(new Fields(value, new Set())))
      for (const link of links) found.add(toKey(link))
    }
  }
  return found
}

function toKey({ name, id }: Link): string {
  return `${name} ${id}`
}
