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
    test(`renders ${JSON.stringify(template)}`, () =>
      assert.equal(renderSms(template, '012345'), text))
  }

  test('does not interpret replacement patterns', () => {
    assert.equal(renderSms('<{{ .Code }}>', '$&$1'), '<$&$1>')
  })

  test('hasCode recognizes the placeholder', () => {
    assert.deepEqual(['{{ .Code }}', '{{ .Token }}', ''].map(hasCode), [true, false, false])
  })
})
