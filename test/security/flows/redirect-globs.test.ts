/**
 * A target allowed by AUTH_URI_ALLOW_LIST has, as browsers parse it, the host named by the pattern.
 * `https://*.example.com/**` must not match `https://localhost:4444?.example.com/`.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import fc from 'fast-check'

import { compileGlob, isAllowedRedirect } from '../../../modules/flows/redirects/allowed.ts'
import { addParameters, inAscii, withFragment } from '../../../modules/flows/redirects/index.ts'
import { serversOnOneDatabase } from '../../support/processes/shared-servers.ts'

const site = 'http://site.test'
const deep = 'https://*.example.com/**'

/** Each target has another host, port or path than the pattern, or is parsed in two ways. */
const bypasses: [pattern: string, target: string][] = [
  [deep, 'https://localhost:4444?.example.com/'],
  [deep, 'https://localhost?.example.com/'],
  [deep, 'https://localhost#.example.com/'],
  [deep, 'https://localhost:4444#.example.com/'],
  [deep, 'https://localhost:.example.com/'],
  [deep, 'https://localhost:4444.example.com/'],
  [deep, 'https://user@localhost?.example.com/'],
  [deep, 'https://localhost@.example.com/'],
  [deep, 'https://a:b@c.example.com/'],
  [deep, 'https://@c.example.com/'],
  [deep, 'https://c.example.com@localhost/'],
  [deep, 'https://c.example.com:443@localhost/'],
  [deep, 'https://localhost\\.example.com/'],
  [deep, 'https:\\\\c.example.com/'],
  [deep, 'https:/c.example.com/'],
  [deep, 'https:c.example.com/'],
  [deep, 'https:///c.example.com/'],
  [deep, '//c.example.com/'],
  [deep, 'https://localhost%2f.example.com/'],
  [deep, 'https://localhost%5c.example.com/'],
  [deep, 'https://localhost%3f.example.com/'],
  [deep, 'https://localhost%23.example.com/'],
  [deep, 'https://localhost%40.example.com/'],
  [deep, 'https://localhost%00.example.com/'],
  [deep, 'https://c%2eexample.com/'],
  [deep, 'https://c.example%2ecom/'],
  [deep, 'https://c.example%E3%80%82com/'],
  [deep, 'https://c。example.com/'],
  [deep, 'https://c.example．com/'],
  [deep, 'https://c｡example.com/'],
  [deep, 'https://c.еxample.com/'],
  [deep, 'https://c.exámple.com/'],
  [deep, 'https://ｃ.example.com/'],
  [deep, 'https://c.example.com℀.evil.test/'],
  [deep, 'https://localhost／.example.com/'],
  [deep, 'https://localhost？.example.com/'],
  [deep, 'https://localhost＃.example.com/'],
  [deep, 'https://lo\u00adcalhost.example.com/'],
  [deep, 'https://c\u200b.example.com/'],
  [deep, 'https://local\thost?.example.com/'],
  [deep, 'ht\ntps://c.example.com/'],
  [deep, '\u0001https://c.example.com/'],
  [deep, 'https://c.example.com./'],
  [deep, 'https://.example.com/'],
  [deep, 'https://a.b.example.com/'],
  [deep, 'https://c.example.com:8443/'],
  [deep, 'https://c.example.com:0443x/'],
  [deep, 'https://c.example.com.evil.test/'],
  [deep, 'https://evil.test/c.example.com/'],
  [deep, 'https://[::1]?.example.com/'],
  [deep, 'https://[::1].example.com/'],
  [deep, 'https://[fe80::1%25eth0]/'],
  [deep, 'https://127.1?.example.com/'],
  [deep, 'http://c.example.com/'],
  ['https://app-?.example.com/**', 'https://app-#.example.com/'],
  ['https://app[!x]example.com/**', 'https://app/example.com/'],
  ['https://app[!x]example.com/**', 'https://app?example.com/'],
  ['https://app[!x]example.com/**', 'https://app:example.com/'],
  ['https://app[!x]example.com/**', 'https://app.example.com/'],
  ['https://example.com**', 'https://example.com.evil.test/'],
  ['https://example.com**', 'https://example.community/'],
  ['https://**.example.com/**', 'https://localhost/?.example.com/'],
  ['https://**.example.com/**', 'https://localhost?.example.com/'],
  ['https://**.example.com/**', 'https://evil.test/.example.com/'],
  ['https://**.example.com/**', 'https://evil.test:80/.example.com/'],
  ['**.example.com/**', 'https://evil.test/.example.com/'],
  ['https:**.example.com/**', 'https://evil.test/.example.com/'],
  ['*://app.example.com/**', 'https://evil.test?://app.example.com/'],
  ['http://localhost:*', 'http://localhost:3000/x'],
  ['http://localhost:*', 'http://localhost:30?x'],
  ['https://example.com:*/**', 'https://example.com:80@evil.test/'],
  ['https://example.com/app/**', 'https://example.com/app/../admin'],
  ['https://example.com/app/**', 'https://example.com/app/%2e%2e/admin'],
  ['https://example.com/app/**', 'https://example.com/app/.%2E/admin'],
  ['https://example.com/app/**', 'https://example.com/app/..'],
  ['https://example.com/app/**', 'https://example.com/app\\..\\admin'],
  ['myapp://callback', 'myapp://evil#://callback'],
  ['myapp://*.app/**', 'myapp://evil?.app/'],
  ['myapp://*.app/**', 'myapp://evil:1#.app/'],
  ['myapp://callback**', 'myapp://callback.evil.test/x'],
  ['myapp://callback**', 'myapp://callback@evil.test/x'],
]

/** Targets of common patterns: these have to be accepted. */
const meant: [pattern: string, target: string][] = [
  [deep, 'https://c.example.com/'],
  [deep, 'https://c.example.com/a/b?x=https://d.test/#y'],
  [deep, 'https://C.Example.com/'],
  [deep, 'https://c.example.com:443/'],
  ['https://App.Example.com/**', 'https://app.example.com/x'],
  ['https://app-?.example.com/**', 'https://app-7.example.com/'],
  ['https://app[!x]example.com/**', 'https://app-example.com/'],
  ['https://**.example.com/**', 'https://a.b.example.com/'],
  ['https://example.com**', 'https://example.com/a?b'],
  ['https://example.com**', 'https://example.com'],
  ['https://example.com:8443/**', 'https://example.com:8443/'],
  ['https://example.com:443/**', 'https://example.com/'],
  ['https://example.com:*/**', 'https://example.com:8443/x'],
  ['http://localhost:*', 'http://localhost:3000'],
  ['http://localhost:**', 'http://localhost:3000/x?y'],
  ['http*://example.com/', 'https://example.com/'],
  ['https://example.com\\?x=*', 'https://example.com?x=1'],
  ['https://**', 'https://printer.lan:8080/x'],
  ['**', 'https://elsewhere.test/'],
  ['myapp://callback', 'myapp://callback'],
  ['myapp://callback**', 'myapp://callback/x?y=1'],
  ['myapp://**', 'myapp://Sign-In/x'],
  ['com.example.app:/**', 'com.example.app://login?x=1'],
  ['myapp:///callback', 'myapp:///callback'],
]

suite('redirect_to patterns over HTTP', () => {
  const server = serversOnOneDatabase()

  async function fetchRedirect(pattern: string, target: string): Promise<string> {
    // Under GoTrue’s name, a pattern that matches each site is a warning instead of an error.
    const env = { AUTH_SITE_URL: site, GOTRUE_URI_ALLOW_LIST: pattern }
    const { app } = await server(env)
    const query = new URLSearchParams({ type: 'signup', token: 'x', redirect_to: target })
    const { headers } = await app.inject(`/verify?${query}`)
    return String(headers.location).split('#', 1)[0] ?? ''
  }

  test('covers at least 60 targets', () => assert.ok(bypasses.length >= 60))

  for (const [pattern, target] of bypasses) {
    test(`${pattern} rejects ${JSON.stringify(target)}`, async () => {
      assert.equal(await fetchRedirect(pattern, target), site)
    })
  }

  for (const [pattern, target] of meant) {
    test(`${pattern} accepts ${target}`, async () => {
      assert.equal(await fetchRedirect(pattern, target), target.split('#', 1)[0])
    })
  }
})

interface HostRule {
  pattern: string
  /** Whether the pattern names the host as the WHATWG URL parser reads it. */
  holds: (host: string) => boolean
}

const hostRules: HostRule[] = [
  { pattern: deep, holds: (host) => /^[^.]+\.example\.com$/.test(host) },
  { pattern: 'https://*.example.com', holds: (host) => /^[^.]+\.example\.com$/.test(host) },
  { pattern: 'https://**.example.com/**', holds: (host) => host.endsWith('.example.com') },
  { pattern: 'https://example.com/**', holds: (host) => host === 'example.com' },
  { pattern: 'https://example.com**', holds: (host) => /^example\.com(:\d+)?$/.test(host) },
  { pattern: 'https://example.com:*/**', holds: (host) => /^example\.com(:\d+)?$/.test(host) },
  { pattern: 'https://?.example.com/*', holds: (host) => /^[^.]\.example\.com$/.test(host) },
  { pattern: 'https://[!q].example.com/*', holds: (host) => /^[^.q]\.example\.com$/.test(host) },
]

const pieces = [
  'https://',
  'http://',
  'https:',
  '//',
  'example.com',
  '.example.com',
  'c',
  'evil.test',
  'localhost',
  '127.0.0.1',
  '[::1]',
  ':443',
  ':8443',
  '.',
  '..',
  ':',
  '/',
  '?',
  '#',
  '@',
  '\\',
  '%2e',
  '%2f',
  '%40',
  '%5c',
  '%00',
  '\t',
  '。',
  '℀',
  'é',
  'xn--',
  '\u00ad',
  '\u200d',
  'ß',
  'K',
  '０',
  '/..',
  '/%2e%2e',
  '&',
  '=',
  ';',
  '*',
]
const piece = fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'grapheme', maxLength: 3 }))
const nearMiss = fc
  .tuple(
    fc.constantFrom('https://c.example.com/x', 'https://example.com/x', 'https://c.example.com'),
    fc.array(fc.tuple(fc.nat(24), piece), { maxLength: 3 }),
  )
  .map(([start, inserts]) =>
    inserts.reduce<string>(
      (text, [at, insert]) => text.slice(0, at) + insert + text.slice(at),
      start,
    ),
  )
const free = fc.array(piece).map((rest) => `https://${rest.join('')}`)
const target = fc.oneof(nearMiss, free)

suite('redirect_to patterns against the WHATWG URL parser', () => {
  // The same targets for each pattern: generating and encoding them takes longer than matching.
  const targets = fc.sample(target, 20_000)

  for (const { pattern, holds } of hostRules) {
    test(`${pattern} never matches another host`, () => {
      const rules = {
        siteUrl: site,
        globs: [compileGlob(pattern)],
        allowLoopback: false,
      }
      const admitted = targets.filter((requested) => isAllowedRedirect(requested, rules))
      for (const requested of admitted) {
        const sent = inAscii(requested)
        for (const href of [
          requested,
          sent,
          withFragment(sent, { a: 1 }),
          addParameters(sent, { a: 1 }),
        ]) {
          assert.ok(holds(new URL(href).host), `${JSON.stringify(requested)} leads to ${href}`)
        }
      }
      assert.ok(admitted.length > 10, `only ${admitted.length} of the addresses were admitted`)
    })
  }
})
