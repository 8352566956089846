/**
 * An address in a header is what its sender wrote there. It counts only when a proxy of AUTH_TRUSTED_PROXIES sent
 * it, and of a chain only as far as such proxies wrote it. Anybody could choose the address in the audit trail, in
 * the list of devices and, with a rate-limit header configured, the bucket they are counted in.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { ConfigError } from '../../plugins/config/mistake.ts'
import { configOf } from '../support/config.ts'
import { autoconfirm, password } from '../support/people.ts'
import type { App } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'

type Headers = Record<string, string>
type Case = [what: string, env: Headers, from: string, headers: Headers, counts: string]

const stranger = '203.0.113.9'
const ours = { AUTH_TRUSTED_PROXIES: '10.0.0.0/8, fd00::/8, 192.0.2.1' }
const nobody = { AUTH_TRUSTED_PROXIES: 'none' }
const own = { AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED: 'true' }
const by = (chain: string) => ({ 'x-forwarded-for': chain })
const chain = '198.51.100.1, 203.0.113.7, 10.0.0.1'

const cases: Case[] = [
  ['no header', {}, stranger, {}, stranger],
  ['no header, in the form of IPv6', {}, `::ffff:${stranger}`, {}, stranger],
  ['a header from elsewhere', {}, stranger, by('198.51.100.1'), stranger],
  ['a chain from elsewhere', ours, stranger, by(chain), stranger],
  ['loopback in a header from elsewhere', {}, stranger, by('127.0.0.1'), stranger],
  ['the own header from elsewhere', own, stranger, { 'proxy-forwarded-for': '8.8.8.8' }, stranger],
  ['its other name, from elsewhere', own, stranger, { 'sb-forwarded-for': '8.8.8.8' }, stranger],
  [
    'the own header, not switched on',
    {},
    '127.0.0.1',
    { 'proxy-forwarded-for': '8.8.8.8' },
    '127.0.0.1',
  ],
  [
    'other headers',
    {},
    '127.0.0.1',
    { 'x-real-ip': '8.8.8.8', forwarded: 'for=8.8.8.8' },
    '127.0.0.1',
  ],
  ['a proxy on this machine', {}, '127.0.0.1', by('203.0.113.7'), '203.0.113.7'],
  ['the same over IPv6', {}, '::1', by('203.0.113.7'), '203.0.113.7'],
  ['the same in the form of IPv6', {}, '::ffff:127.0.0.1', by('203.0.113.7'), '203.0.113.7'],
  ['what the client wrote before', {}, '127.0.0.1', by('8.8.8.8, 203.0.113.7'), '203.0.113.7'],
  ['a proxy nobody named', {}, '127.0.0.1', by(chain), '10.0.0.1'],
  ['two proxies', ours, '10.9.9.9', by(chain), '203.0.113.7'],
  ['a single address', ours, '192.0.2.1', by('203.0.113.7'), '203.0.113.7'],
  ['its neighbour', ours, '192.0.2.2', by('203.0.113.7'), '192.0.2.2'],
  ['IPv6', ours, 'fd12::1', by('2001:DB8::1, fd12::2'), '2001:db8::1'],
  ['loopback when others are named', ours, '127.0.0.1', by('203.0.113.7'), '127.0.0.1'],
  ['nobody is trusted', nobody, '127.0.0.1', by('203.0.113.7'), '127.0.0.1'],
  ['only proxies', ours, '10.0.0.3', by('10.0.0.1, 10.0.0.2'), '10.0.0.1'],
  ['an entry that is no address', ours, '10.0.0.3', by('203.0.113.7, unknown'), '10.0.0.3'],
  ['the same further out', ours, '10.0.0.3', by('unknown, 203.0.113.7'), '203.0.113.7'],
  ['the same between proxies', ours, '10.0.0.3', by('203.0.113.7, _x, 10.0.0.1'), '10.0.0.1'],
  ['an empty header', ours, '10.0.0.3', by(''), '10.0.0.3'],
  ['empty entries', ours, '10.0.0.3', by(' , ,'), '10.0.0.3'],
  ['a port', ours, '10.0.0.3', by('203.0.113.7:4711'), '203.0.113.7'],
  ['a port after IPv6', ours, '10.0.0.3', by('[2001:db8::1]:4711'), '2001:db8::1'],
  ['a zone', ours, '10.0.0.3', by('fe80::1%eth0'), 'fe80::1'],
  ['IPv4 in the form of IPv6', ours, '10.0.0.3', by('::ffff:203.0.113.7'), '203.0.113.7'],
  ['an old way to write one', ours, '10.0.0.3', by('0x7f.1'), '10.0.0.3'],
  ['a long chain', ours, '10.0.0.3', by(`${'8.8.8.8, '.repeat(900)}203.0.113.7`), '203.0.113.7'],
  [
    'the own header',
    own,
    '127.0.0.1',
    { 'proxy-forwarded-for': '203.0.113.7, 8.8.8.8' },
    '203.0.113.7',
  ],
  ['its other name', own, '127.0.0.1', { 'sb-forwarded-for': '203.0.113.7' }, '203.0.113.7'],
  [
    'the own header before the other',
    own,
    '127.0.0.1',
    { ...by('8.8.8.8'), 'proxy-forwarded-for': '203.0.113.7' },
    '203.0.113.7',
  ],
]

suite('the address of a client', () => {
  const server = sharedServers()
  for (const [what, env, remoteAddress, headers, counts] of cases) {
    test(`${what}: ${remoteAddress} is recorded as ${counts}`, async () => {
      const { app } = await server({ ...autoconfirm, ...env })
      const email = `${crypto.randomUUID()}@example.com`
      const payload = { email, password }
      const asked = { method: 'POST', url: '/signup', headers, payload, remoteAddress } as const
      const { user, access_token } = (await app.inject(asked)).json()
      const authorization = `Bearer ${access_token}`
      const { sessions } = (
        await app.inject({ url: '/sessions', headers: { authorization } })
      ).json()
      assert.deepEqual(
        sessions.map(({ ip }: { ip: string }) => ip),
        [counts],
      )
      const trail = await app.db
        .selectFrom('audit_log_entries')
        .select(['ip_address', 'payload'])
        .execute()
      const own = trail.filter(({ payload }) => payload.actor_id === user.id)
      assert.ok(own.length > 0)
      for (const { ip_address } of own) assert.equal(ip_address, counts)
    })
  }
})

type Asking = [from: string, headers: Headers]
const real = { AUTH_RATE_LIMIT_HEADER: 'X-Real-IP', AUTH_RATE_LIMIT_VERIFY: '1' }
const forwardedFor = { ...real, AUTH_RATE_LIMIT_HEADER: 'X-Forwarded-For' }
const forwarded = { ...own, AUTH_RATE_LIMIT_VERIFY: '1' }

const buckets: [what: string, env: Headers, first: Asking, second: Asking, together: boolean][] = [
  [
    'a new address in the header of a stranger',
    real,
    [stranger, { 'x-real-ip': '8.8.8.8' }],
    [stranger, { 'x-real-ip': '8.8.4.4' }],
    true,
  ],
  ['a stranger without the header', real, [stranger, {}], [stranger, {}], true],
  [
    'two strangers who name the same',
    real,
    [stranger, { 'x-real-ip': '8.8.8.8' }],
    ['203.0.113.8', { 'x-real-ip': '8.8.8.8' }],
    false,
  ],
  [
    'a proxy that names two',
    real,
    ['127.0.0.1', { 'x-real-ip': '8.8.8.8' }],
    ['127.0.0.1', { 'x-real-ip': '8.8.4.4' }],
    false,
  ],
  [
    'a proxy that names one',
    real,
    ['127.0.0.1', { 'x-real-ip': '8.8.8.8' }],
    ['127.0.0.1', { 'x-real-ip': '8.8.8.8' }],
    true,
  ],
  ['a service beside us, which names nobody', real, ['127.0.0.1', {}], ['127.0.0.1', {}], false],
  [
    'what a client put in front of the chain',
    forwardedFor,
    ['127.0.0.1', by('1.1.1.1, 8.8.8.8')],
    ['127.0.0.1', by('2.2.2.2, 8.8.8.8')],
    true,
  ],
  [
    'two ends of a chain',
    forwardedFor,
    ['127.0.0.1', by('1.1.1.1, 8.8.8.8')],
    ['127.0.0.1', by('1.1.1.1, 8.8.4.4')],
    false,
  ],
  [
    'the own header from a stranger',
    forwarded,
    [stranger, { 'proxy-forwarded-for': '8.8.8.8' }],
    [stranger, { 'proxy-forwarded-for': '8.8.4.4' }],
    true,
  ],
  ['the own header, missing', forwarded, ['127.0.0.1', {}], ['127.0.0.1', {}], false],
  ['nothing configured', { AUTH_RATE_LIMIT_VERIFY: '1' }, [stranger, {}], [stranger, {}], false],
]

suite('what limits count by', () => {
  const server = sharedServers()
  for (const [what, env, first, second, together] of buckets) {
    test(`${what}: ${together ? 'together' : 'apart'}`, async () => {
      const { app } = await server({ ...env, AUTH_SITE_URL: `http://${crypto.randomUUID()}.test` })
      assert.notEqual(await verify(app, first), 429)
      assert.equal((await verify(app, second)) === 429, together)
    })
  }
})

async function verify(app: App, [remoteAddress, headers]: Asking): Promise<number> {
  const url = '/verify?type=signup&token=abc'
  return (await app.inject({ url, headers, remoteAddress })).statusCode
}

suite('AUTH_TRUSTED_PROXIES', () => {
  for (const value of [
    'proxy.internal',
    '10.0.0.0/33',
    '10.0.0/8',
    '::1/129',
    '10.0.0.1-9',
    '10.0.0.0/8;::1',
    'fe80::1%eth0',
    '10.0.0.0/',
  ]) {
    test(`${value} is refused at the start`, () => {
      assert.throws(
        () => configOf({ AUTH_TRUSTED_PROXIES: value }),
        (error) => error instanceof ConfigError && /AUTH_TRUSTED_PROXIES/.test(error.message),
      )
    })
  }
})
