import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { confirmationUrl, mailBaseUrl } from '../../mail/kinds/confirmation-url.ts'

const paths: [base: string, urlPath: string | undefined, start: string][] = [
  ['https://auth.example', undefined, 'https://auth.example/verify'],
  ['https://auth.example/', undefined, 'https://auth.example/verify'],
  ['https://x.example/auth/v1', undefined, 'https://x.example/auth/v1/verify'],
  ['https://x.example/auth/v1/', undefined, 'https://x.example/auth/v1/verify'],
  ['https://x.example/auth/v1?a=b#c', undefined, 'https://x.example/auth/v1/verify'],
  ['https://x.example/auth/v1', '', 'https://x.example/auth/v1/verify'],
  ['https://x.example/auth/v1', '/verify', 'https://x.example/verify'],
  ['https://x.example/auth/v1', '/auth/v1/confirm', 'https://x.example/auth/v1/confirm'],
  ['https://x.example/auth/v1', 'confirm', 'https://x.example/auth/confirm'],
  ['https://x.example/auth/v1/', 'confirm', 'https://x.example/auth/v1/confirm'],
  ['https://x.example/auth', 'https://app.example/welcome', 'https://app.example/welcome'],
  ['https://x.example', '/verify?lang=de', 'https://x.example/verify'],
  ['http://127.0.0.1:9999', '/verify', 'http://127.0.0.1:9999/verify'],
]

const redirects = [
  'https://app.example/',
  'https://app.example/a?b=c&d=e#f',
  'https://app.example/?x=%26%23',
  'https://app.example/a%2Fb%3Ac',
  'myapp://open?a=1+2',
  'https://app.example/"><script>',
  'https://app.example/\r\nBcc: eve@example.net',
  'https://app.example/ü',
  '',
]

interface Forwarded {
  host?: string | undefined
  proto?: string
  hosts?: string[]
  base: string
}

const bases: Record<string, Forwarded> = {
  'no header': { hosts: ['app.example'], base: 'https://auth.example/v1' },
  'a listed host': { host: 'app.example', hosts: ['app.example'], base: 'https://app.example/v1' },
  'a listed host in another case': {
    host: 'App.Example',
    hosts: ['aPP.example'],
    base: 'https://app.example/v1',
  },
  'the first of several hosts': {
    host: 'app.example, proxy.example',
    hosts: ['app.example'],
    base: 'https://app.example/v1',
  },
  'a listed host after an unlisted one': {
    host: 'evil.example, app.example',
    hosts: ['app.example'],
    base: 'https://auth.example/v1',
  },
  'no list': { host: 'app.example', base: 'https://auth.example/v1' },
  'another host': { host: 'evil.example', hosts: ['app.example'], base: 'https://auth.example/v1' },
  'a longer host name': {
    host: 'app.example.evil.example',
    hosts: ['app.example'],
    base: 'https://auth.example/v1',
  },
  'a subdomain': { host: 'a.app.example', hosts: ['app.example'], base: 'https://auth.example/v1' },
  'an unlisted port': {
    host: 'app.example:8443',
    hosts: ['app.example'],
    base: 'https://auth.example/v1',
  },
  'a listed port': {
    host: 'app.example:8443',
    hosts: ['app.example:8443'],
    base: 'https://app.example:8443/v1',
  },
  'plain http': {
    host: 'app.example',
    proto: 'http',
    hosts: ['app.example'],
    base: 'https://app.example/v1',
  },
  'localhost with http': {
    host: 'localhost:3000',
    proto: 'http',
    hosts: ['localhost'],
    base: 'http://localhost:3000/v1',
  },
  'localhost with https': {
    host: 'localhost',
    proto: 'https',
    hosts: ['localhost'],
    base: 'https://localhost/v1',
  },
  'unlisted localhost': { host: 'localhost', proto: 'http', base: 'https://auth.example/v1' },
  userinfo: {
    host: 'app.example@evil.example',
    hosts: ['app.example'],
    base: 'https://auth.example/v1',
  },
  'a path': {
    host: 'app.example/evil',
    hosts: ['app.example/evil'],
    base: 'https://auth.example/v1',
  },
  'a line break': {
    host: 'app.example\r\nX: y',
    hosts: ['app.example'],
    base: 'https://auth.example/v1',
  },
  'an invalid port': {
    host: 'app.example:99999',
    hosts: ['app.example:99999'],
    base: 'https://auth.example/v1',
  },
}

suite('links in emails', () => {
  for (const [base, urlPath, start] of paths) {
    test(`begin with ${start} for ${base} and ${urlPath === undefined ? 'no path' : `the path "${urlPath}"`}`, () => {
      const url = confirmationUrl({
        base,
        urlPath,
        token: 'pkce_ab',
        type: 'recovery',
        redirectTo: 'https://app.example',
      })

      const query = 'token=pkce_ab&type=recovery&redirect_to=https://app.example'
      assert.equal(url, `${start}?${query}`)
    })
  }

  test('keep a fragment of the path behind the query', () => {
    const url = confirmationUrl({
      base: 'https://auth.example',
      urlPath: 'https://app.example/#/welcome',
      token: 'ab',
      type: 'invite',
      redirectTo: 'x',
    })

    assert.equal(url, 'https://app.example/?token=ab&type=invite&redirect_to=x#/welcome')
  })

  for (const redirectTo of redirects) {
    test(`encode the redirect ${JSON.stringify(redirectTo)} once`, () => {
      const url = confirmationUrl({
        base: 'https://auth.example',
        urlPath: undefined,
        token: 'ab',
        type: 'signup',
        redirectTo,
      })

      assert.match(url, /^[!-~]+$/)
      assert.doesNotMatch(url, /["<>]/)
      assert.deepEqual(
        [...new URL(url).searchParams],
        [
          ['token', 'ab'],
          ['type', 'signup'],
          ['redirect_to', redirectTo],
        ],
      )
    })
  }

  for (const [name, { host, proto, hosts = [], base }] of Object.entries(bases)) {
    test(`begin with ${base} for X-Forwarded-Host: ${name}`, () => {
      const found = mailBaseUrl({
        externalUrl: 'https://auth.example/v1',
        externalHosts: hosts,
        forwardedHost: host,
        forwardedProto: proto,
      })

      assert.equal(found, base)
    })
  }
})
