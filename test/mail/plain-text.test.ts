import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { plainTextOf } from '../../mail/plain-text.ts'
import { endsInTime } from '../support/bounded.ts'

const long = `https://auth.example/verify?token=${'a'.repeat(200)}&type=signup`

const cases: [name: string, html: string, text: string][] = [
  ['paragraphs', '<p>One</p><p>Two</p>', 'One\n\nTwo\n'],
  ['a heading keeps its case', '<h1>Hello Ada</h1><p>x</p>', 'Hello Ada\n\nx\n'],
  ['entities', '<p>a &amp; b &lt;c&gt; &#34;d&#34;</p>', 'a & b <c> "d"\n'],
  [
    'a link',
    '<a href="https://x.example/?a=1&amp;b=2">Go</a>',
    'Go <https://x.example/?a=1&b=2>\n',
  ],
  [
    'a bare link, once',
    '<a href="https://x.example/">https://x.example/</a>',
    'https://x.example/\n',
  ],
  ['a long link is not broken', `<p><a href="${long}">Go</a></p>`, `Go\n<${long}>\n`],
  ['no picture', '<p>a<img src="https://x.example/pixel.gif" alt="pixel">b</p>', 'ab\n'],
  ['no style, no script', '<style>p{}</style><script>1</script><p>a</p>', 'a\n'],
  ['no title', '<html><head><title>T</title></head><body>a</body></html>', 'a\n'],
]

suite('plain text out of HTML', () => {
  for (const [name, html, text] of cases) {
    test(name, () => {
      assert.equal(plainTextOf(html), text)
    })
  }

  test('a long and deep text is read in linear time', () =>
    endsInTime(() => plainTextOf('<div>'.repeat(20_000) + 'x'.repeat(500_000))))
})
