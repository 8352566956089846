/** The text of a message (RFC 5322), from the parts that nodemailer made. */
import type MimeNode from 'nodemailer/lib/mime-node'
import { encode, wrap } from 'nodemailer/lib/qp'

/**
 * Returns a message, or one of its parts (RFC 2046 §5.1). Their content is text. nodemailer's own function is a chain of
 * streams that costs nearly as much as the rest of a delivery.
 */
export function toMessageText(part: MimeNode): string {
  const headers = `${part.buildHeaders()}\r\n\r\n`
  if (!part.multipart) return headers + toContent(part)
  const { boundary } = part
  const parts = part.childNodes.map((child) => `--${boundary}\r\n${toMessageText(child)}\r\n`)
  return `${headers}${parts.join('')}--${boundary}--\r\n`
}

function toContent(part: MimeNode): string {
  const text = typeof part.content === 'string' ? part.content : ''
  return part.getTransferEncoding() === 'quoted-printable' ? wrap(encode(text)) : text
}
