import { useState } from 'preact/hooks'

import { changeByApi } from '../../core/api.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { getOrganizationPath, type ListedOrganization, mayIn } from './organization.ts'

interface DeletedActionsProps {
  organization: ListedOrganization
  onDone: () => void
}

/** What becomes of a deleted organization. */
export function DeletedActions({ organization, onDone }: DeletedActionsProps) {
  const { id, name, slug } = organization
  const [isPurging, setPurging] = useState(false)
  const act = (action: 'restore' | 'purge', text: string) => async () => {
    await changeByApi('POST', `${getOrganizationPath(id)}/${action}`)
    showMessage(text)
    onDone()
  }
  return (
    <span class="row">
      <Button
        compact
        label={`Restore ${name}`}
        disabled={!mayIn('POST', '/restore')}
        onClick={act('restore', `${name} was restored`)}
      >
        Restore
      </Button>
      <Button
        compact
        kind="danger"
        label={`Purge ${name}`}
        disabled={!mayIn('POST', '/purge')}
        onClick={() => setPurging(true)}
      >
        Purge
      </Button>
      {isPurging && (
        <Confirm
          title={`Purge ${name}`}
          submit="Purge organization"
          danger
          typed={slug}
          onConfirm={act('purge', `${name} was purged`)}
          onClose={() => setPurging(false)}
        >
          <p>Its members, roles and domains are removed. This cannot be undone.</p>
        </Confirm>
      )}
    </span>
  )
}
