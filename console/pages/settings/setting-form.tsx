import { AreaField, SelectField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import type { ShownSetting } from './setting.ts'
import { getTemplateKind, TemplateEditor } from './template-editor.tsx'

interface SettingFormProps {
  setting: ShownSetting
  onSave: (value: string) => Promise<void>
  onClose: () => void
}

const truths = [
  ['true', 'true'],
  ['false', 'false'],
] as const

/** How a value of a type is written. */
const hints: Record<string, string> = {
  list: 'Values separated by commas',
  duration: 'A duration such as 90s, 15m or 7d',
  rate: 'A number per hour such as 30, or per duration such as 5/10m',
  whole: 'A whole number',
  number: 'A number',
  site: 'A URL such as https://app.example.com',
  url: 'A URL',
}

/** An input for the setting's type; the server validates the value. */
export function SettingForm({ setting, onSave, onClose }: SettingFormProps) {
  const kind = getTemplateKind(setting)
  if (kind) return <TemplateEditor {...{ setting, kind, onSave, onClose }} />
  const save = async ({ value = '' }: FormFields) => {
    await onSave(value)
    onClose()
  }
  return (
    <Form submit="Save" onSubmit={save} onCancel={onClose}>
      <ValueField setting={setting} />
    </Form>
  )
}

function ValueField({ setting: { name, type, value, secret } }: { setting: ShownSetting }) {
  const field = { name: 'value', label: `Value of ${name}`, value: value ?? '' }
  if (secret) return <TextField {...field} type="password" hint="Stored encrypted" autoFocus />
  if (/bool|true, false/.test(type)) return <SelectField {...field} options={truths} />
  if (/list/.test(type) || (value?.length ?? 0) > 80) {
    return <AreaField {...field} code hint={hints[type]} rows={4} />
  }
  return <TextField {...field} hint={hints[type]} autoFocus />
}
