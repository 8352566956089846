import type { ShownEmailDelivery } from '../core/shapes.ts'
import { Badge, type Tone } from './text.tsx'

const statuses: Record<ShownEmailDelivery['status'], { text: string; tone: Tone }> = {
  queued: { text: 'Queued', tone: 'link' },
  sending: { text: 'Sending', tone: 'link' },
  deferred: { text: 'Retrying', tone: 'warn' },
  sent: { text: 'Sent', tone: 'good' },
  refused: { text: 'Rejected', tone: 'bad' },
  failed: { text: 'Failed', tone: 'bad' },
}

/** The delivery status of an email. */
export function MailStatus({ status }: Pick<ShownEmailDelivery, 'status'>) {
  const { text, tone } = statuses[status]
  return <Badge tone={tone}>{text}</Badge>
}
