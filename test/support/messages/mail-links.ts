/** The link and the code of an email. */
import assert from 'node:assert/strict'

import type { ReceivedMail } from './mail-server.ts'

export function linkIn({ mail }: ReceivedMail): string {
  const link = /https?:\/\/\S+\/verify\?\S+/.exec(mail.text ?? '')?.[0]
  assert.ok(link, 'the mail holds no link')
  return link
}

export function codeIn({ mail }: ReceivedMail): string {
  // Not part of an address or a link.
  const code = /(?<![\w-])\d{6,10}(?![\w-])/.exec(mail.text ?? '')?.[0]
  assert.ok(code, 'the mail holds no code')
  return code
}
