import type { Webhook } from '../../../schemas/webhook.ts'
import { Badge } from '../../parts/text.tsx'

export function WebhookStateBadge({ of: { state, failures } }: { of: Webhook }) {
  if (state === 'paused') return <Badge tone="warn">Paused</Badge>
  if (failures > 0) return <Badge tone="bad">Failing</Badge>
  return <Badge tone="good">Active</Badge>
}
