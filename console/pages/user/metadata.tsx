import { useState } from 'preact/hooks'

import type { AdminUser } from '../../../schemas/admin-user.ts'
import { changeByApi } from '../../core/api.ts'
import { may } from '../../core/me.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { AreaField } from '../../parts/fields.tsx'
import { createPatch, formatMetadata, parseMetadata } from './metadata-patch.ts'
import type { TabProps } from './tab-props.ts'

type Name = 'user_metadata' | 'app_metadata'

export function MetadataTab(props: TabProps) {
  return (
    <div class="two">
      <Editor {...props} name="user_metadata" title="User metadata">
        The user can read and change it.
      </Editor>
      <Editor {...props} name="app_metadata" title="App metadata">
        The user can read it; only admins can change it.
      </Editor>
    </div>
  )
}

interface EditorProps extends TabProps {
  name: Name
  title: string
  children: string
}

function Editor({ user, of, name, title, children }: EditorProps) {
  const stored = formatMetadata(user[name])
  const [text, setText] = useState(stored)
  const { value, error } = parseMetadata(text)
  const patch = value && createPatch(user[name], value)
  const mayChange = may('PUT /admin/users/{user_id}')
  const send = async (metadata: object) => {
    const after = await changeByApi<AdminUser>('PUT', `/admin/users/${user.id}`, {
      [name]: metadata,
    })
    of.set(after)
    setText(formatMetadata(after[name]))
    return after
  }
  const save = async () => {
    if (!patch) return
    const after = await send(patch)
    const undo = createPatch(after[name], user[name])
    showMessage(`${title} saved`, undo && (() => send(undo)))
  }
  return (
    <Card title={title}>
      <AreaField
        name={name}
        label="JSON"
        code
        rows={14}
        value={text}
        hint={children}
        error={error}
        disabled={!mayChange}
        onInput={setText}
      />
      <div class="row">
        <Button kind="primary" disabled={!patch || !mayChange} onClick={save}>
          Save
        </Button>
        <Button disabled={text === stored} onClick={() => setText(stored)}>
          Discard changes
        </Button>
      </div>
    </Card>
  )
}
