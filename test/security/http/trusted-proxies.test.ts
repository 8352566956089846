/**
 * Address headers count only when sent by a proxy of AUTH_TRUSTED_PROXIES, and of a chain only the part written by such
 * proxies. Otherwise clients choose the address in the audit log, in the session list and, with a rate limit header,
 * their rate limit bucket.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { ConfigError } from '../../../config/core/config-error.ts'
import { testConfig } from '../../support/config.ts'
import { serversOnOneDatabase } from '../../support/processes/shared-servers.ts'
import type { App } from '../../support/server.ts'
import { autoconfirm, password } from '../../support/users.ts'

type Headers = Record<string, string>
type Case = [what: string, env: Headers, from: string, headers: Headers, counts: string]

const attacker = '203.0.113.9'
const ours = { AUTH_TRUSTED_PROXIES: '10.0.0.0/8, fd00::/8, 192.0.2.1' }
const unknown = { AUTH_TRUSTED_PROXIES: 'none' }
const own = { AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED: 'true' }
const by = (chain: string) => ({ 'x-forwarded-for': chain })
const chain = '198.51.100.1, 203.0.113.7, 10.0.0.1'

const cases: Case[] = [
  ['no header', {}, attacker, {}, attacker],
  ['no header, IPv4-mapped', {}, `::ffff:${attacker}`, {}, attacker],
  ['a header from an untrusted address', {}, attacker, by('198.51.100.1'), attacker],
  ['a chain from an untrusted address', ours, attacker, by(chain), attacker],
  ['loopback in a header from an untrusted address', {}, attacker, by('127.0.0.1'), attacker],
  [
    'Proxy-Forwarded-For from an untrusted address',
    own,
    attacker,
    { 'proxy-forwarded-for': '8.8.8.8' },
    attacker,
  ],
  [
    'Sb-Forwarded-For from an untrusted address',
    own,
    attacker,
    { 'sb-forwarded-for': '8.8.8.8' },
    attacker,
  ],
  [
    'Proxy-Forwarded-For while disabled',
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
  ['a proxy on loopback', {}, '127.0.0.1', by('203.0.113.7'), '203.0.113.7'],
  ['a proxy on IPv6 loopback', {}, '::1', by('203.0.113.7'), '203.0.113.7'],
  ['a proxy on IPv4-mapped loopback', {}, '::ffff:127.0.0.1', by('203.0.113.7'), '203.0.113.7'],
  ['a forged entry before the proxy’s', {}, '127.0.0.1', by('8.8.8.8, 203.0.113.7'), '203.0.113.7'],
  ['an unlisted proxy', {}, '127.0.0.1', by(chain), '10.0.0.1'],
  ['two listed proxies', ours, '10.9.9.9', by(chain), '203.0.113.7'],
  ['a listed single address', ours, '192.0.2.1', by('203.0.113.7'), '203.0.113.7'],
  ['the neighbour of a listed address', ours, '192.0.2.2', by('203.0.113.7'), '192.0.2.2'],
  ['IPv6', ours, 'fd12::1', by('2001:DB8::1, fd12::2'), '2001:db8::1'],
  ['loopback when other proxies are listed', ours, '127.0.0.1', by('203.0.113.7'), '127.0.0.1'],
  ['no trusted proxy', unknown, '127.0.0.1', by('203.0.113.7'), '127.0.0.1'],
  ['a chain of proxies only', ours, '10.0.0.3', by('10.0.0.1, 10.0.0.2'), '10.0.0.1'],
  ['an invalid entry', ours, '10.0.0.3', by('203.0.113.7, unknown'), '10.0.0.3'],
  [
    'an invalid entry before the client',
    ours,
    '10.0.0.3',
    by('unknown, 203.0.113.7'),
    '203.0.113.7',
  ],
  [
    'an invalid entry between proxies',
    ours,
    '10.0.0.3',
    by('203.0.113.7, _x, 10.0.0.1'),
    '10.0.0.1',
  ],
  ['an empty header', ours, '10.0.0.3', by(''), '10.0.0.3'],
  ['empty entries', ours, '10.0.0.3', by(' , ,'), '10.0.0.3'],
  ['an entry with a port', ours, '10.0.0.3', by('203.0.113.7:4711'), '203.0.113.7'],
  ['an IPv6 entry with a port', ours, '10.0.0.3', by('[2001:db8::1]:4711'), '2001:db8::1'],
  ['an entry with a zone', ours, '10.0.0.3', by('fe80::1%eth0'), 'fe80::1'],
  ['an IPv4-mapped entry', ours, '10.0.0.3', by('::ffff:203.0.113.7'), '203.0.113.7'],
  ['an entry in legacy notation', ours, '10.0.0.3', by('0x7f.1'), '10.0.0.3'],
  ['a long chain', ours, '10.0.0.3', by(`${'8.8.8.8, '.repeat(900)}203.0.113.7`), '203.0.113.7'],
  [
    'Proxy-Forwarded-For',
    own,
    '127.0.0.1',
    { 'proxy-forwarded-for': '203.0.113.7, 8.8.8.8' },
    '203.0.113.7',
  ],
  ['Sb-Forwarded-For', own, '127.0.0.1', { 'sb-forwarded-for': '203.0.113.7' }, '203.0.113.7'],
  [
    'Proxy-Forwarded-For before X-Forwarded-For',
    own,
    '127.0.0.1',
    { ...by('8.8.8.8'), 'proxy-forwarded-for': '203.0.113.7' },
    '203.0.113.7',
  ],
]

suite('client address', () => {
  const server = serversOnOneDatabase()
  for (const [what, env, remoteAddress, headers, counts] of cases) {
    test(`records ${counts} for ${remoteAddress} with ${what}`, async () => {
      const { app } = await server({ ...autoconfirm, ...env })
      const email = `${crypto.randomUUID()}@example.com`
      const payload = { email, password }
      const requested = { method: 'POST', url: '/signup', headers, payload, remoteAddress } as const
      const { user, access_token } = (await app.inject(requested)).json()
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

type Requester = [from: string, headers: Headers]
const real = { AUTH_RATE_LIMIT_HEADER: 'X-Real-IP', AUTH_RATE_LIMIT_VERIFY: '1' }
const forwardedFor = { ...real, AUTH_RATE_LIMIT_HEADER: 'X-Forwarded-For' }
const forwarded = { ...own, AUTH_RATE_LIMIT_VERIFY: '1' }

const buckets: [
  what: string,
  env: Headers,
  first: Requester,
  second: Requester,
  together: boolean,
][] = [
  [
    'a changed header from an untrusted address',
    real,
    [attacker, { 'x-real-ip': '8.8.8.8' }],
    [attacker, { 'x-real-ip': '8.8.4.4' }],
    true,
  ],
  ['an untrusted address without the header', real, [attacker, {}], [attacker, {}], true],
  [
    'two untrusted addresses with the same header',
    real,
    [attacker, { 'x-real-ip': '8.8.8.8' }],
    ['203.0.113.8', { 'x-real-ip': '8.8.8.8' }],
    false,
  ],
  [
    'a proxy with two addresses',
    real,
    ['127.0.0.1', { 'x-real-ip': '8.8.8.8' }],
    ['127.0.0.1', { 'x-real-ip': '8.8.4.4' }],
    false,
  ],
  [
    'a proxy with one address',
    real,
    ['127.0.0.1', { 'x-real-ip': '8.8.8.8' }],
    ['127.0.0.1', { 'x-real-ip': '8.8.8.8' }],
    true,
  ],
  ['a local service without the header', real, ['127.0.0.1', {}], ['127.0.0.1', {}], false],
  [
    'a forged entry in front of the chain',
    forwardedFor,
    ['127.0.0.1', by('1.1.1.1, 8.8.8.8')],
    ['127.0.0.1', by('2.2.2.2, 8.8.8.8')],
    true,
  ],
  [
    'chains with different last entries',
    forwardedFor,
    ['127.0.0.1', by('1.1.1.1, 8.8.8.8')],
    ['127.0.0.1', by('1.1.1.1, 8.8.4.4')],
    false,
  ],
  [
    'Proxy-Forwarded-For from an untrusted address',
    forwarded,
    [attacker, { 'proxy-forwarded-for': '8.8.8.8' }],
    [attacker, { 'proxy-forwarded-for': '8.8.4.4' }],
    true,
  ],
  ['a missing Proxy-Forwarded-For', forwarded, ['127.0.0.1', {}], ['127.0.0.1', {}], false],
  ['no header configured', { AUTH_RATE_LIMIT_VERIFY: '1' }, [attacker, {}], [attacker, {}], false],
]

suite('rate limit key', () => {
  const server = serversOnOneDatabase()
  for (const [what, env, first, second, together] of buckets) {
    test(`counts ${what} ${together ? 'together' : 'separately'}`, async () => {
      const { app } = await server({ ...env, AUTH_SITE_URL: `http://${crypto.randomUUID()}.test` })
      assert.notEqual(await verify(app, first), 429)
      assert.equal((await verify(app, second)) === 429, together)
    })
  }
})

async function verify(app: App, [remoteAddress, headers]: Requester): Promise<number> {
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
    test(`rejects ${value} at startup`, () => {
      assert.throws(
        () => testConfig({ AUTH_TRUSTED_PROXIES: value }),
        (error) => error instanceof ConfigError && /AUTH_TRUSTED_PROXIES/.test(error.message),
      )
    })
  }
})
