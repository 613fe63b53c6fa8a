-- A searchable table may say that a word of one field, such as the title, counts more than one of another.
alter type svc_private.search_query add attribute field_weights integer[];
