/** Redirect target validation: accepted and rejected URLs, known bypasses included. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { compileGlob, isAllowedRedirect } from '../../../modules/flows/redirects/allowed.ts'
import { addParameters, inAscii, withFragment } from '../../../modules/flows/redirects/index.ts'

interface Table {
  list?: string[]
  site?: string
  dev?: boolean
  allowed: string[]
  rejected: string[]
}

const tables: Record<string, Table> = {
  'a pattern for one level of a path': {
    list: ['http://one.com/*'],
    allowed: ['http://one.com/', 'http://one.com/abc', 'http://one.com/abc?x=1'],
    rejected: ['http://one.com', 'http://one.com/a/b', 'http://one.com/a.b', 'https://one.com/abc'],
  },
  'a pattern compared without the fragment': {
    list: ['http://one.com/*', 'https://ex.com/a'],
    allowed: ['http://one.com/abc#f/x.y', 'https://ex.com/a#t'],
    rejected: ['https://ex.com/a/', 'https://ex.com/a?z=1', 'https://ex.com/b#/a'],
  },
  'a pattern for one level of a host': {
    list: ['https://*.sub.com'],
    allowed: ['https://a.sub.com'],
    rejected: [
      'https://sub.com',
      'https://a.b.sub.com',
      'https://a.sub.com/',
      'https://evil.com/.sub.com',
      'https://evil.com?.sub.com',
      'https://evil.com#.sub.com',
      'https://evil.com:1.sub.com',
      'https://a@evil.sub.com',
    ],
  },
  'a pattern for any depth': {
    list: ['https://deep.com/**'],
    allowed: ['https://deep.com/a/b.c?d=e', 'https://deep.com/'],
    rejected: ['https://deep.com', 'https://deep.com.evil.com/', 'https://deep.comevil/'],
  },
  'single characters, classes and escapes': {
    list: ['https://x?.com/[a-c][!d]', 'https://y.com/\\*'],
    allowed: ['https://xy.com/ae', 'https://y.com/*'],
    rejected: ['https://x.com/ae', 'https://xy.com/de', 'https://xy.com/ad', 'https://y.com/z'],
  },
  'an app with a custom scheme': {
    list: ['myapp://callback', 'com.example.app:/**'],
    allowed: ['myapp://callback', 'com.example.app://login?x=1'],
    rejected: ['myapp://other', 'otherapp://callback'],
  },
  'an address without a wildcard in every form that RFC 3986 holds for the same': {
    list: ['https://ex.com', 'https://EX.com:443/%7Eme', 'myapp://callback'],
    allowed: ['https://ex.com/', 'https://ex.com', 'https://ex.com/~me', 'MYAPP://callback'],
    rejected: ['https://ex.com/~me/', 'https://ex.com:8443/', 'https://ex.com//', 'http://ex.com/'],
  },
  'a custom scheme with a query behind its host, as written': {
    list: ['myapp://open?mode=reset', 'https://ex.com?next=home'],
    allowed: ['myapp://open?mode=reset', 'myapp://open?mode=reset#x', 'https://ex.com?next=home'],
    rejected: ['myapp://open?mode=other', 'myapp://open', 'https://ex.com?next=away'],
  },
  'a wildcard host, which matches no IP address': {
    list: ['http://**'],
    allowed: ['http://printer.lan/'],
    rejected: [
      'http://10.0.0.1/',
      'http://169.254.169.254/latest',
      'http://2130706433/',
      'http://0x7f.1/',
      'http://[fd00::1]/',
      'http://0.0.0.0/',
    ],
  },
  'the site URL: any port, path and query, by its scheme or https': {
    allowed: [
      'http://app.example',
      'http://app.example/',
      'https://app.example/deep/path?x=1#y',
      'http://app.example:3000/path',
      'HTTP://APP.EXAMPLE/path',
      'http://app.example//evil.com',
    ],
    rejected: [
      'http://www.app.example/',
      'http://example/',
      'ftp://app.example/',
      'myapp://app.example/',
      'http://app.example.evil.com/',
      'http://evil-app.example/',
      'http://app.example./',
    ],
  },
  'an https site, which does not match http': {
    site: 'https://app.example',
    allowed: ['https://app.example:8443/'],
    rejected: ['http://app.example/'],
  },
  'a loopback address in development': {
    dev: true,
    allowed: ['http://localhost:3000/', 'http://127.0.0.1:5173/x', 'http://[::1]:8080/'],
    rejected: ['http://localhost.evil.com/', 'http://127.0.0.1.evil.com/', 'http://0.0.0.0:3000/'],
  },
  'a loopback address in production': {
    allowed: [],
    rejected: ['http://localhost:3000/', 'http://127.0.0.1/', 'http://[::1]/'],
  },
  'user names in front of the host': {
    list: ['https://**'],
    allowed: [],
    rejected: [
      'http://app.example@evil.com/',
      'http://app.example:80@evil.com/',
      'http://evil.com@app.example/',
      'https://user:secret@good.com/',
      'https://@good.com/',
    ],
  },
  'URLs that parsers read differently': {
    list: ['https://good.com/**'],
    allowed: [],
    rejected: [
      'http:\\\\app.example\\',
      'http://evil.com\\@app.example/',
      'http://evil.com\\.app.example/',
      'https://good.com\\@evil.com/',
      '\\\\evil.com',
      '//evil.com',
      '///evil.com',
      '/\\evil.com',
      '/relative',
      'http:/app.example',
      'http:app.example',
      'http:///app.example',
      'http://app.example%40evil.com/',
      'http://app.example%2eevil.com/',
      'http://evil.com%2f@app.example/',
      'http://evil.com%00.app.example/',
      'http://app.example:99999/',
      'http://app.example:80:80/',
      ' http://app.example/',
      'http://app.example /',
      '',
    ],
  },
  'line breaks and control characters': {
    list: ['https://good.com/**'],
    allowed: ['https://good.com/%0d%0aset-cookie:a=b'],
    rejected: [
      'https://good.com/\r\nSet-Cookie: a=b',
      'https://good.com/\nx',
      'https://good.com/\tx',
      'http://app.\texample/',
      'https://good.com/\u0000',
      'https://good.com/\u2028x',
      'https://good.com/\u0085x',
    ],
  },
  'look-alike hosts': {
    list: ['https://good.com/**', 'https://*.good.com/**'],
    allowed: ['https://good.com/päth'],
    rejected: [
      'http://аpp.example/',
      'https://gооd.com/',
      'https://good。com/',
      'https://good.com。evil.com/',
      'https://ⓖood.com/',
      'https://evil.com/.good.com/',
      'http://app。example/',
      'http://app.example℀.evil.com/',
    ],
  },
  'internationalized hosts in each notation': {
    list: [
      'https://*.bücher.example/**',
      'https://xn--caf-dma.example/**',
      'https://gr\\öße.example',
    ],
    site: 'https://müller.example',
    allowed: [
      'https://müller.example/x',
      'https://Müller.example/x',
      'https://mu\u0308ller.example/x',
      'https://xn--mller-kva.example/x',
      'https://shop.bücher.example/x',
      'https://shop.xn--bcher-kva.example/x',
      'https://café.example/x',
    ],
    rejected: [
      'https://muller.example/x',
      'https://müller。example/x',
      'https://ｍüller.example/x',
      'https://müller.example.evil.test/',
      'https://bücher.example/x',
      'https://a.b.bücher.example/x',
      'https://x\u200dy.example/',
    ],
  },
  'executable and data schemes with any list': {
    list: ['**', 'javascript:**', 'data:**'],
    allowed: ['anyapp://x'],
    rejected: [
      'javascript:alert(1)',
      'JavaScript:alert(1)',
      'java\nscript:alert(1)',
      'javascript://app.example/%0aalert(1)',
      'data:text/html,<script>alert(1)</script>',
      'vbscript:msgbox(1)',
      'blob:http://app.example/x',
      'file:///etc/passwd',
      'about:blank',
    ],
  },
  'lone surrogates and excessive length': {
    allowed: [],
    rejected: ['http://app.example/\ud800', `http://app.example/${'a'.repeat(3000)}`],
  },
}

test('converts the host to ASCII', () => {
  const targets = {
    'https://müller.example:8443/päth?q=ü#f':
      'https://xn--mller-kva.example:8443/p%C3%A4th?q=%C3%BC#f',
    'https://app.example/ü': 'https://app.example/%C3%BC',
    'app://müller/': 'app://m%C3%BCller/',
  }
  for (const [target, sent] of Object.entries(targets)) assert.equal(inAscii(target), sent)
})

suite('redirect targets', () => {
  for (const [what, table] of Object.entries(tables)) {
    const { list = [], site = 'http://app.example', dev = false } = table
    const rules = { siteUrl: site, globs: list.map(compileGlob), allowLoopback: dev }

    test(`${what}: accepts matching targets`, () => {
      for (const target of table.allowed) {
        assert.equal(isAllowedRedirect(target, rules), true, JSON.stringify(target))
      }
    })

    test(`${what}: rejects other targets`, () => {
      for (const target of table.rejected) {
        assert.equal(isAllowedRedirect(target, rules), false, JSON.stringify(target))
      }
    })
  }

  test('encodes results once, in sorted order, and replaces the fragment', () => {
    const error = { error_code: 'x', error_description: 'a: b & c=d' }
    assert.equal(
      withFragment('https://a.com/p?q=1#old', error),
      'https://a.com/p?q=1#error_code=x&error_description=a%3A+b+%26+c%3Dd',
    )
    assert.equal(
      addParameters('https://a.com/p?q=1#old', { code: 'x' }),
      'https://a.com/p?code=x&q=1#old',
    )
    assert.equal(addParameters('myapp://callback', { code: 'x' }), 'myapp://callback?code=x')
  })

  test('replaces existing query parameters', () => {
    const target = addParameters('https://a.com/?code=theirs&code=twice', { code: 'ours' })
    assert.deepEqual(new URL(target).searchParams.getAll('code'), ['ours'])
  })
})
