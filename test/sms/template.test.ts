import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { hasCode, renderSms } from '../../sms/template.ts'

suite('SMS template', () => {
  const cases = [
    ['Your code is {{ .Code }}', 'Your code is 012345'],
    ['{{.Code}}/{{  .Code  }}', '012345/012345'],
    ['A&B <b> "{{ .Code }}"', 'A&B <b> "012345"'],
    ['{{ .Token }} {{ Code }} {% raw %}', '{{ .Token }} {{ Code }} {% raw %}'],
    ['@example.com #{{ .Code }}', '@example.com #012345'],
  ] as const
  for (const [template, text] of cases) {
    test(template, () => assert.equal(renderSms(template, '012345'), text))
  }

  test('signs that mean something in a replacement are taken as they are', () => {
    assert.equal(renderSms('<{{ .Code }}>', '$&$1'), '<$&$1>')
  })

  test('a template without the code is recognised', () => {
    assert.deepEqual(['{{ .Code }}', '{{ .Token }}', ''].map(hasCode), [true, false, false])
  })
})
