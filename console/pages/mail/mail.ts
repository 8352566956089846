/** Emails of GET /admin/mail. */
import type { MailDelivery } from '../../core/shapes.ts'

export interface Mail extends MailDelivery {
  user_id: string | null
  retryable: boolean
  /** Delivery is unknown. */
  uncertain: boolean
}

export interface MailPageBody {
  mails: Mail[]
  next_cursor: string | null
}

export interface TemplateList {
  kinds: string[]
  languages: { tag: string; name?: string }[]
  default_language: string
}

export interface RenderedMail {
  subject: string
  html: string
  text: string
}
