/** Fields that filter a list. Their values are stored in the URL. */
import { h } from 'preact'
import { useId } from 'preact/hooks'

import { query, setQuery } from '../core/router.ts'

interface FilterFieldProps {
  /** The query parameter. */
  name: string
  label: string
  type?: 'search' | 'date'
  placeholder?: string
}

/** A list filter stored in the URL, applied when the input is complete. */
export function FilterField({ name, label, type = 'search', placeholder }: FilterFieldProps) {
  const id = useId()
  const value = query.value.get(name) ?? ''
  const field = {
    key: value,
    id,
    type,
    placeholder,
    defaultValue: value,
    onChange: (event: Event & { currentTarget: HTMLInputElement }) =>
      setQuery({ [name]: event.currentTarget.value.trim() }),
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {h('input', field)}
    </div>
  )
}

/** A search field that filters loaded rows while the user types; its text is stored in the URL. */
export function Search({ label, placeholder }: { label: string; placeholder: string }) {
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={placeholder}
      value={searchText()}
      onInput={(event) => setQuery({ q: event.currentTarget.value })}
    />
  )
}

/** Whether one of the texts contains what is searched for, ignoring case. */
export function matchesSearch(texts: readonly string[]): boolean {
  const searched = searchText().trim().toLowerCase()
  return texts.some((text) => text.toLowerCase().includes(searched))
}

const searchText = (): string => query.value.get('q') ?? ''
