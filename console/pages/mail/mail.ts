/** Emails of GET /admin/mail. */
import type { ShownEmailDelivery } from '../../core/shapes.ts'

export interface Mail extends ShownEmailDelivery {
  user_id: string | null
  retryable: boolean
  /** Delivery is unknown. */
  uncertain: boolean
}

export interface TemplateList {
  kinds: string[]
  languages: { tag: string; name?: string }[]
  default_language: string
}

export interface ShownMailPreview {
  subject: string
  html: string
  text: string
}
