/** Templates of an operator with variables that the email does not have. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { compileTemplate } from '../../mail/go-template/template.ts'
import { linksIn } from '../../mail/links.ts'
import { unknownVariables } from '../../mail/unknown-variables.ts'

const cases: [title: string, source: string, problems: string[]][] = [
  [
    'names a misspelt variable with its line and the nearest name',
    '<p>Hi</p>\n<a href="{{ .ConfirmationUrl }}">Go</a>',
    [
      'line 2: this email has no .ConfirmationUrl, so it is always empty; did you mean .ConfirmationURL?',
    ],
  ],
  [
    'names a misspelt variable that the template tests',
    '{{ if .Confirmation_URL }}<a href="{{ .Confirmation_URL }}">Go</a>{{ end }}',
    [
      'line 1: this email has no .Confirmation_URL, so it is always empty; did you mean .ConfirmationURL?',
    ],
  ],
  [
    'names a variable of another email type',
    '{{ .OldPhone }}',
    ['line 1: this email has no .OldPhone, so it is always empty.'],
  ],
  [
    'allows testing a variable of another email type',
    '{{ if .NewEmail }}{{ .NewEmail }}{{ end }}',
    [],
  ],
  [
    'checks variables under $',
    '{{ range .Data.x }}{{ $.Emial }}{{ end }}',
    ['line 1: this email has no .Emial, so it is always empty; did you mean .Email?'],
  ],
  [
    'ignores fields of metadata, loops and template variables',
    '{{ .Data.anything }}{{ range .Data.teams }}{{ .title }}{{ end }}{{ with .Data.a }}{{ .b }}{{ end }}{{ $x := .Email }}{{ $x }}',
    [],
  ],
  [
    'accepts each documented variable of a link',
    '{{ .SiteURL }}{{ .Email }}{{ .ConfirmationURL }}{{ .Token }}{{ .TokenHash }}{{ .RedirectTo }}{{ .Locale }}',
    [],
  ],
]

suite('unknownVariables', () => {
  for (const [title, source, problems] of cases) {
    test(title, () => {
      assert.deepEqual(unknownVariables('invite', compileTemplate(source, 'text')), problems)
    })
  }
})

suite('linksIn', () => {
  test('returns each link of the HTML once, without entities', () => {
    const html = `<a href="https://a.example/x?a=1&amp;b=2&#38;c=3">A</a>
      <a href='https://b.example/'>B</a> <a href=https://c.example/>C</a>
      <a href="https://b.example/">again</a> <a href="">empty</a> <a href="mailto:a@b.example">M</a>`
    assert.deepEqual(linksIn(html), [
      'https://a.example/x?a=1&b=2&c=3',
      'https://b.example/',
      'https://c.example/',
    ])
  })
})
