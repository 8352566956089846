import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { toPlainText } from '../../mail/render.ts'
import { endsInTime } from '../support/runner/bounded.ts'

const long = `https://auth.example/verify?token=${'a'.repeat(200)}&type=signup`

const cases: [name: string, html: string, text: string][] = [
  ['paragraphs', '<p>One</p><p>Two</p>', 'One\n\nTwo\n'],
  ['keeps the case of a heading', '<h1>Hello Ada</h1><p>x</p>', 'Hello Ada\n\nx\n'],
  ['entities', '<p>a &amp; b &lt;c&gt; &#34;d&#34;</p>', 'a & b <c> "d"\n'],
  [
    'appends the target of a link',
    '<a href="https://x.example/?a=1&amp;b=2">Go</a>',
    'Go <https://x.example/?a=1&b=2>\n',
  ],
  [
    'prints a bare link once',
    '<a href="https://x.example/">https://x.example/</a>',
    'https://x.example/\n',
  ],
  ['does not break a long link', `<p><a href="${long}">Go</a></p>`, `Go\n<${long}>\n`],
  ['omits images', '<p>a<img src="https://x.example/pixel.gif" alt="pixel">b</p>', 'ab\n'],
  ['omits styles and scripts', '<style>p{}</style><script>1</script><p>a</p>', 'a\n'],
  ['omits the title', '<html><head><title>T</title></head><body>a</body></html>', 'a\n'],
]

suite('toPlainText', () => {
  for (const [name, html, text] of cases) {
    test(name, () => {
      assert.equal(toPlainText(html), text)
    })
  }

  test('converts a long and deep document in linear time', () =>
    endsInTime(() => toPlainText('<div>'.repeat(20_000) + 'x'.repeat(500_000))))
})
